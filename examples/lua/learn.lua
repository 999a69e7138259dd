-- learn.lua - a network learns the handwritten digits of examples/fashion/digits and says how many
-- of 359 others it reads. Run as tensor_core.c says; the folder of the digits may be an argument.
local tn = require "tensor"
local nn, optim = tn.nn, tn.optim

tn.manual_seed(1)
local folder = arg[1] or "../fashion/digits"
local x = tn.load_idx(folder .. "/images-idx3-ubyte"):reshape({-1, 64}):to("float32") / 16
local y = tn.load_idx(folder .. "/labels-idx1-ubyte"):to("int64")
local order, train = tn.randperm(#x), 1438
local test = order:narrow(0, train, #x - train)

local net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
local optimizer = optim.Adam(net:parameters(), {lr = 0.003})
print(net)
for epoch = 1, 15 do
    local mixed, sum, batches = order:index_select(0, tn.randperm(train)), 0, 0
    for first = 0, train - 32, 32 do
        local batch = mixed:narrow(0, first, 32)
        local loss = net(x:index_select(0, batch)):cross_entropy(y:index_select(0, batch))
        optimizer:zero_grad()
        loss:backward()
        optimizer:step()
        sum, batches = sum + loss:item(), batches + 1
        io.write(("\repoch %2d  loss %.4f"):format(epoch, sum / batches))
    end
    local read = tn.no_grad(function()
        return net(x:index_select(0, test)):argmax(1):eq(y:index_select(0, test)):sum():item()
    end)
    io.write(("  reads %d of %d\n"):format(read, #test))
end
