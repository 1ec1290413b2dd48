import torch
from numgrad import numgrad

torch.manual_seed(0)
logits = torch.randn(4, 3, dtype=torch.double, requires_grad=True)
target = torch.randint(0, 2, (4, 3)).bool()
p = torch.sigmoid(logits)
pt = torch.where(target, p, 1 - p)
(-pt.log()).mean().backward()
def f(v):
    p = torch.sigmoid(v)
    return -torch.where(target, p, 1 - p).log().mean()
assert torch.allclose(logits.grad, numgrad(f, logits.detach()), atol=1e-6)
print("ok")
