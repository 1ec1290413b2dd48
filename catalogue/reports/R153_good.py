import torch
from numgrad import numgrad
import torch.nn as nn

class Mix(nn.Module):
    def __init__(self): super().__init__(); self.w = nn.Parameter(torch.zeros(3, dtype=torch.double))
    def forward(self, x):
        w = torch.softmax(self.w, 0)      # derived value: local variable, recomputed each call
        return (w * x).sum()
m = Mix(); x = torch.arange(3.).double()
m(x).backward()
assert torch.allclose(m.w.grad, numgrad(lambda v: (torch.softmax(v, 0) * x).sum(), m.w.detach()), atol=1e-6)
print("ok")
