import torch
from numgrad import numgrad

torch.manual_seed(0)
pos = torch.randn(3, 2, dtype=torch.double)
lin = torch.nn.Linear(2, 2).double()
def decode(tok):
    tok = tok + pos
    return lin(tok).pow(2).sum()
q = torch.randn(3, 2, dtype=torch.double, requires_grad=True)
(decode(q * 1) + decode(q * 1)).backward()
with torch.no_grad():
    num = numgrad(lambda v: 2 * decode(v), q.detach())
assert torch.allclose(q.grad, num, atol=1e-5)
print("ok")
