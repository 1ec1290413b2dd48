import torch
from numgrad import numgrad
import copy
import torch.nn as nn

torch.manual_seed(0)
m = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)).double()
x = torch.randn(4, 3).double(); m(x)
c = copy.deepcopy(m)
c(x).pow(2).sum().backward()
g = c.parametrizations.weight.original0; v = c.parametrizations.weight.original1
b = c.bias.detach(); v0 = v.detach()
def f(gg):
    w = gg * v0 / v0.norm(dim=1, keepdim=True)
    return (x @ w.t() + b).pow(2).sum()
assert torch.allclose(g.grad, numgrad(f, g.detach()), atol=1e-5)
print("ok")
