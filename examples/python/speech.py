"""Finds speech in a sound, by the weights of Silero VAD: 31 times a second the network is given the
next 32 ms, and says how likely it is that somebody speaks. `sh examples/weights.sh silero` fetches
the weights; without a sound it listens to vowels that it makes:

python examples/python/speech.py build/weights/silero_vad_16k.safetensors [SOUND.wav]
"""

import math
import sys
import wave

import tensorh as torch
import tensorh.nn.functional as F
from tensorh import nn, safetensors

RATE, WINDOW, BEFORE, BINS, HIDDEN = 16000, 512, 64, 129, 128


class VAD(nn.Module):
    """The parts have the names of the file. What was heard before is in `state`."""

    def __init__(self):
        super().__init__()
        self.stft_conv = nn.Conv1d(1, 2 * BINS, 256, stride=128, bias=False)
        self.conv1 = nn.Conv1d(BINS, 128, 3, padding=1)
        self.conv2 = nn.Conv1d(128, 64, 3, stride=2, padding=1)
        self.conv3 = nn.Conv1d(64, 64, 3, stride=2, padding=1)
        self.conv4 = nn.Conv1d(64, HIDDEN, 3, padding=1)
        self.lstm_cell = nn.LSTMCell(HIDDEN, HIDDEN)
        self.final_conv = nn.Conv1d(HIDDEN, 1, 1)

    def forward(self, x, state=None):
        """(1, BEFORE + WINDOW) samples: the chance of speech, and the state after them."""
        x = self.stft_conv(F.pad(x, (0, BEFORE), mode="reflect").unsqueeze(1))
        cosines, sines = x.split(BINS, dim=1)
        x = torch.sqrt(cosines.square() + sines.square())  # how strong each frequency is
        for conv in (self.conv1, self.conv2, self.conv3, self.conv4):
            x = F.relu(conv(x))
        h, c = self.lstm_cell(x.squeeze(-1), state)
        return torch.sigmoid(self.final_conv(F.relu(h).unsqueeze(-1))), (h, c)


@torch.inference_mode()
def listen(weights, sound):
    """A chance for each window of a sound (N)."""
    model, state, chances = VAD(), None, []
    safetensors.load_model(model, weights)
    sound = F.pad(sound, (BEFORE, -len(sound) % WINDOW))
    for i in range(0, len(sound) - BEFORE, WINDOW):
        chance, state = model(sound[i : i + BEFORE + WINDOW].unsqueeze(0), state)
        chances.append(chance.flatten())
    return torch.cat(chances)


def read(path):
    """The samples of a WAV file, -1..1."""
    with wave.open(path, "rb") as f:
        if (f.getnchannels(), f.getsampwidth(), f.getframerate()) != (1, 2, RATE):
            raise ValueError(f"{path}: not mono, 16 bits, {RATE} a second")
        frames = f.readframes(f.getnframes())
    return torch.frombuffer(bytearray(frames), dtype=torch.int16).float() / 32768


def vowels():
    """Four vowels after another from 0.75 s to 2.25 s of three seconds: a pulse for each swing of
    the vocal cords, and three resonances of the mouth for each vowel (Fant 1960)."""
    at = [(800, 1200, 2500), (300, 2300, 3000), (350, 800, 2400), (600, 1800, 2600)]
    sound, now, last, swing = [0.0] * (3 * RATE), [0.0] * 3, [0.0] * 3, 0.0
    for i in range(RATE * 3 // 4, RATE * 9 // 4):
        t = i / RATE - 0.75
        swing += (130 - 15 * t + 10 * math.sin(6 * t)) / RATE
        pulse = 0.0
        if swing >= 1:
            swing -= 1
            pulse = math.sqrt(math.sin(math.pi * min(t / 0.2 % 1 * 1.15, 1)))
        for k, hertz in enumerate(at[int(t / 0.2) % 4]):
            r = math.exp(-math.pi * (80 + 40 * k) / RATE)
            turn = 2 * r * math.cos(2 * math.pi * hertz / RATE)
            then = pulse + turn * now[k] - r * r * last[k]
            last[k], now[k] = now[k], then
            sound[i] += (then - last[k]) / 2**k / 20
    return torch.tensor(sound)


def spoken(chances):
    """Begin and end of each piece of speech, in windows: it begins where the chance is one half,
    and ends where it is well below."""
    begun = None
    for i, chance in enumerate([*chances, 0.0]):
        if begun is None and chance >= 0.5:
            begun = i
        if begun is not None and chance < 0.35:
            yield begun, i
            begun = None


def main(weights, path=None):
    chances = listen(weights, read(path) if path else vowels()).tolist()
    for begin, end in spoken(chances):
        print(f"speech from {begin * WINDOW / RATE:.2f} s to {end * WINDOW / RATE:.2f} s")
    print(f"{len(chances)} windows")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: speech.py WEIGHTS [SOUND.wav]")
    main(*sys.argv[1:])
