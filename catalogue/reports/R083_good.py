import torch
from numgrad import numgrad
import torch.nn as nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
emb = nn.Embedding(5, 4).requires_grad_(False).double()
base = nn.Linear(4, 4).requires_grad_(False).double()
A = nn.Linear(4, 2, bias=False).double(); B = nn.Linear(2, 4, bias=False).double()
e = emb(torch.tensor([1, 2]))
checkpoint(lambda x: base(x) + B(A(x)), e, use_reentrant=False).pow(2).sum().backward()
g1 = A.weight.grad.clone(); A.zero_grad(); B.zero_grad()
e2 = e.detach().requires_grad_(True)      # = enable_input_require_grads()
checkpoint(lambda x: base(x) + B(A(x)), e2, use_reentrant=True).pow(2).sum().backward()
assert torch.allclose(g1, A.weight.grad)
f = lambda w: (base(e) + B(e @ w.t())).detach().pow(2).sum()
assert torch.allclose(g1, numgrad(f, A.weight.detach()), atol=1e-5)
print("ok")
