-- tensor.lua - what Lua's signs and names mean in tensor.h: a + b is the row "add", t[0] "select",
-- t:sum{dim = 0} and tn.sum(t, {dim = 0}) "sum". Every row is there under its name, with torch's
-- arguments; dimensions and indices count from 0, as in torch.
--
--     local tn = require "tensor"
--     local t = tn.tensor({{1, 2}, {3, 4}})
--     print(2 * t[0] + t:sum{dim = 0})
local core = require "tensor_core"
local tn, nn, optim = {}, {}, {}

-- A field that is asked for first becomes a function that calls core with its name.
local function by_name(fields, make)
    return setmetatable(fields, {__index = function(_, name)
        fields[name] = function(...) return make(name, ...) end
        return fields[name]
    end})
end
tn.nn, tn.optim = nn, optim
by_name(tn, core.call)
by_name(nn, core.module)
by_name(optim, function(name, ...) return core.optimizer(name .. "(", ...) end)
function nn.Sequential(...)
    local net = core.sequential()
    for _, child in ipairs {...} do core.append(net, child) end
    return net
end

-- A number, or a table of tables of them, as a tensor.
function tn.tensor(x, ...)
    if type(x) ~= "table" then return core.call("full", {}, x, ...) end
    local parts = {}
    for i, part in ipairs(x) do parts[i] = tn.tensor(part, ...) end
    return core.call("stack", parts)
end
tn.load_idx, tn.manual_seed = core.load_idx, core.manual_seed
function tn.no_grad(f, ...)
    local before = core.grad_mode(false)
    local result = table.pack(pcall(f, ...))
    core.grad_mode(before)
    if not result[1] then error(result[2], 0) end
    return table.unpack(result, 2, result.n)
end

local Tensor, Module, Optimizer = core.type "tensor", core.type "module", core.type "optimizer"
local function sign(name)
    return function(a, b)
        if type(a) == "number" then a = tn.tensor(a) end
        return core.call(name, a, b)
    end
end
Tensor.__add, Tensor.__sub, Tensor.__mul, Tensor.__div = sign "add", sign "sub", sign "mul", sign "div"
Tensor.__pow, Tensor.__mod = sign "pow", sign "remainder"
function Tensor.__unm(t) return core.call("neg", t) end
function Tensor.__len(t) return (core.shape(t)) end
function Tensor.__index(t, key)
    if math.type(key) == "integer" then return core.call("select", t, 0, key) end
    return Tensor.methods[key] or tn[key]
end
Tensor.methods = {item = core.item, backward = core.backward}
function Tensor.methods.requires_grad_(t)
    core.requires_grad(t)
    return t
end
function Tensor.methods.grad(t) return (core.grad(t)) end
function Tensor.methods.shape(t)
    return {core.shape(t)}
end
Module.__index = {save = core.save, load = core.load, train = core.train}
Module.__call = core.call
function Module.__index.parameters(m) return {core.parameters(m)} end
Optimizer.__index = {step = core.step, zero_grad = core.zero_grad}
Tensor.__tostring, Module.__tostring = core.text, core.text
Tensor.__gc, Module.__gc, Optimizer.__gc = core.free_tensor, core.free_module, core.free_optimizer
return tn
