import torch

lat = torch.randn(2, 3, requires_grad=True)
attn = torch.rand(2, 3, requires_grad=True)          # recorded under no_grad upstream: no link to lat
loss = (1 - attn.max(1).values).sum()
g = torch.autograd.grad(loss, lat)[0]
lat = lat - 0.1 * g
