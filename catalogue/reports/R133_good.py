import torch
from numgrad import numgrad
import torch.nn as nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
block, head = nn.Linear(2, 2).double(), nn.Linear(2, 1).double()
x = torch.randn(3, 2).double()
head(checkpoint(block, x, use_reentrant=False)).pow(2).sum().backward()
f = lambda w: head(x @ w.t() + block.bias).detach().pow(2).sum()
assert torch.allclose(block.weight.grad, numgrad(f, block.weight.detach()), atol=1e-5)
print("ok")
