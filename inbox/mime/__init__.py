"""Reading mail: bytes in, one normal form out. Pure: nothing here knows Django, a database or a network.

`ParserPool` (child.py) is the door for mail from outside; `parse` (parsing.py) is the same work in this process.
"""
