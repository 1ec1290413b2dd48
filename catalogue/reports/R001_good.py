import torch
from numgrad import numgrad
import math
import torch.nn as nn

torch.manual_seed(0)
head = nn.Conv2d(8, 3 * 7, 1).double()
before = head.bias.detach().clone().view(3, -1)
with torch.no_grad():                     # initialisation is not part of the computation
    b = head.bias.view(3, -1)
    b[:, 4] += math.log(8 / 400)
assert isinstance(head.bias, nn.Parameter) and head.bias.is_leaf
assert torch.allclose(head.bias.detach().view(3, -1)[:, 4], before[:, 4] + math.log(8 / 400))
x = torch.randn(2, 8, 3, 3, dtype=torch.double)
head(x).pow(2).sum().backward()
def f(bias):
    return torch.nn.functional.conv2d(x, head.weight.detach(), bias).pow(2).sum()
assert torch.allclose(head.bias.grad, numgrad(f, head.bias.detach()), atol=1e-5)
print("ok", head.bias.grad[:3])
