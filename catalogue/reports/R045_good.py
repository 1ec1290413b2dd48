import torch
import torch.nn as nn
from numgrad import numgrad

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)
        self.register_buffer("buf", torch.ones(1, 2))
    def forward(self, x):
        return (self.lin(x) * self.buf).sum()

torch.manual_seed(0)
m = M().double()
x = torch.randn(1, 2, dtype=torch.double)
a = m(x)
m.buf = torch.full((1, 2), 2.0, dtype=torch.double)   # a new tensor; the saved one stays as it was
b = m(x * 2)
(a + b).backward()
bias = m.lin.bias.detach()
f = lambda w: (x @ w.t() + bias).sum() + (2 * (2 * x @ w.t() + bias)).sum()
assert torch.allclose(m.lin.weight.grad, numgrad(f, m.lin.weight.detach()), atol=1e-6)
