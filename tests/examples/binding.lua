-- binding.lua - what examples/lua promises: values, keywords, signs, gradients, errors, memory.
local tn = require "tensor"
local passed, failed = 0, 0
local function check(what, ok, got)
    passed, failed = passed + (ok and 1 or 0), failed + (ok and 0 or 1)
    if not ok then print("FAILED " .. what, got) end
end
local function is(what, t, text) check(what, tostring(t) == text, t) end
local function refuses(what, f, words, line)
    local ok, e = pcall(f)
    local here = line and ("binding.lua:%d: "):format(line) or "binding.lua:"
    check(what, not ok and tostring(e):find(words, 1, true) and tostring(e):find(here, 1, true), e)
end
local function line() return debug.getinfo(2, "l").currentline end

local t = tn.tensor({{1, 2, 3}, {4, 5, 6}}, {dtype = "float32"})
is("add", t + t, "tensor([[ 2.,  4.,  6.],\n        [ 8., 10., 12.]])")
is("a number on the right", t - 1, "tensor([[0., 1., 2.],\n        [3., 4., 5.]])")
is("a number on the left", 1 - t, "tensor([[ 0., -1., -2.],\n        [-3., -4., -5.]])")
is("mul, div", 2 * t / 4, "tensor([[0.5000, 1.0000, 1.5000],\n        [2.0000, 2.5000, 3.0000]])")
is("minus", -t[0], "tensor([-1., -2., -3.])")
is("pow, mod", t[0] ^ 2 % 4, "tensor([1., 0., 1.])")
is("an index from the end", t[-1][-1], "tensor(6.)")
is("keywords", t:sum {dim = 0}, "tensor([5., 7., 9.])")
is("a list and a keyword", t:sum({0, 1}, {keepdim = true}), "tensor([[21.]])")
is("a list of tensors", tn.cat({t[0], t[1]}), "tensor([1., 2., 3., 4., 5., 6.])")
is("a list of nothing", tn.zeros({}), "tensor(0.)")
is("in place", (function() local a = tn.ones({2}); a:add_(1); return a end)(), "tensor([2., 2.])")
is("a dtype by its name", tn.ones({1}, {dtype = "int64"}), "tensor([1])")
is("a dtype by position", t[0]:to("int32"), "tensor([1, 2, 3], dtype=torch.int32)")
check("#", #t == 2, #t)
check("shape", table.concat(t:shape(), " ") == "2 3")
check("item", t[1][2]:item() == 6)
local values, indices = t:max(1)
is("two results", values, "tensor([3., 6.])")
is("the second", indices, "tensor([2, 2])")

local w = tn.tensor({1.5, 2}):requires_grad_()
check("no gradient yet", w:grad() == nil);
(w * w):sum():backward()
is("a gradient", w:grad(), "tensor([3., 4.])")
check("no_grad returns what its function does", select("#", tn.no_grad(function() return 1, nil, w * 2 end)) == 3)
is("nothing is recorded", tn.no_grad(function() return w * 2 end), "tensor([3., 4.])")
refuses("an error in no_grad", function() tn.no_grad(function() error("mine") end) end, "mine")
check("behind it recording is on", tostring(w * 2):find "grad_fn")

local nn = tn.nn
local net = nn.Sequential(nn.Linear(2, 3, {bias = false}), nn.Tanh(), nn.Dropout {p = 0.25})
check("a module's text", tostring(net):find("Linear(in_features=2, out_features=3, bias=False)", 1, true), net)
check("parameters", #net:parameters() == 1)
net:train(false)
is("a module's call", #net(tn.ones({4, 2})):shape(), "2")
net:save(arg[1] .. "/lua.safetensors")
local twin = nn.Sequential(nn.Linear(2, 3, {bias = false}), nn.Tanh(), nn.Dropout())
twin:load(arg[1] .. "/lua.safetensors")
check("save, load", tn.equal(twin:parameters()[1], net:parameters()[1]):item() == 1)
check("results of a module", select("#", nn.LSTM(3, 2)(tn.ones({4, 3}))) == 3)

local here = line() + 1
refuses("shapes", function() local a = t + tn.ones({4}) return a end, "size of tensor a (3) must match the size of tensor b (4)", here)
refuses("an index", function() local a = t[7] return a end, "index 7 out of range", here + 1)
refuses("no row", function() local a = t:nothing() return a end, "operator 'nothing' does not exist", here + 2)
refuses("no keyword", function() local a = t:sum {dims = 1} return a end, "argument 'dims' does not exist", here + 3)
refuses("a number's gradient", function() t:backward() end, "does not require grad", here + 4)
refuses("many elements", function() local a = t:item() return a end, "expected one element", here + 5)
refuses("no class", function() local a = nn.Nothing(2) return a end, '"Nothing" does not exist', here + 6)
refuses("no optimizer", function() local a = tn.optim.Ad({w}) return a end, "no such optimizer", here + 7)
refuses("an option", function() local a = tn.optim.Adam({w}, {lr = -1}) return a end, "learning rate: -1", here + 8)
refuses("a ragged table", function() local a = tn.tensor({{1}, {2, 3}}) return a end, "equal size", here + 9)
refuses("no tensor", function() local a = tn.add(print, t) return a end, "no tensor, but a function", here + 10)
refuses("a mixed list", function() local a = tn.zeros({2, 2.5}) return a end, "a list of two types", here + 11)
refuses("no module", function() local a = nn.Sequential(3) return a end, "no module, but a number", here + 12)
refuses("no file", function() local a = tn.load_idx("nothing.idx") return a end, "nothing.idx", here + 13)
check("an error leaves nothing behind", tostring(t[0]) == "tensor([1., 2., 3.])")

-- Four gigabytes in all: the collector, which is told of each tensor's memory, frees them in time.
for _ = 1, 10000 do local big = tn.ones({1000, 100}) end
local peak -- KiB
for status in io.lines("/proc/self/status") do peak = peak or tonumber(status:match "^VmHWM:%s*(%d+)") end
check("memory is freed", peak < 60000, peak)
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0, true)
