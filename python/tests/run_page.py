"""Runs the Python of a page or notebook in the current directory: run_page.py FILE. 

What each block prints follows a line "# block N". "# figure N" is a plot with N axes that have data.
"""

import ast
import json
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
if sys.argv[1].endswith(".ipynb"):
    notebook = json.loads(text)
    blocks = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
else:
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
names = {"__name__": "__main__"}
for number, block in enumerate(blocks, 1):
    print("# block", number, flush=True)
    tree = ast.parse(block)
    shown = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None  # as notebooks show it
    exec(compile(tree, f"{sys.argv[1]}: block {number}", "exec"), names)
    if shown:
        value = eval(compile(ast.Expression(shown.value), f"{sys.argv[1]}: block {number}", "eval"), names)
        if value is not None:
            print(value)
    plots = sys.modules.get("matplotlib.pyplot")
    if plots and plots.get_fignums():
        print("# figure", sum(axes.has_data() for axes in plots.gcf().axes))
        plots.close("all")
