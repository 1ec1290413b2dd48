import torch
from numgrad import numgrad
import torch.nn as nn

torch.manual_seed(0)
c = nn.Linear(3, 3).double()
x = torch.tensor([[-1.0, 2.0, -3.0]], dtype=torch.double, requires_grad=True)
def block(v):
    return c(torch.relu(v)) + v           # out-of-place relu on anything that is used twice
block(x).pow(2).sum().backward()
with torch.no_grad():
    num = numgrad(lambda v: block(v).pow(2).sum(), x.detach())
assert torch.allclose(x.grad, num, atol=1e-5)
print("ok", x.grad)
