"""Floor 3: ahead-of-time autograd: from a captured graph to a forward and a backward graph of plain ops."""
