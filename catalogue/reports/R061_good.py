import torch
from numgrad import numgrad
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(inplace=False), nn.Flatten(), nn.Linear(8, 2)).double()
seen = {}
def fwd_hook(module, inp, out):
    out.register_hook(lambda g: seen.__setitem__("g", g.clone()))   # tensor hook from a forward hook
net[0].register_forward_hook(fwd_hook)
x = torch.randn(1, 1, 4, 4).double()
net(x).pow(2).sum().backward()
act = net[0](x).detach()
f = lambda a: net[3](torch.relu(a).flatten(1)).detach().pow(2).sum()
assert torch.allclose(seen["g"], numgrad(f, act), atol=1e-5)
print("ok")
