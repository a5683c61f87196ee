"""HTTP/1.1 as the server reads and writes it: uvicorn's protocol, mended where it trusts a client too far.

Owns bytes and time on one connection; what is asked, and by whom, is decided behind it. From the outside in each class
adds one thing to the next: `deadlines`, which a server is given, says how long a request may take to come; `turns`,
which of several is answered and what becomes of the rest when one breaks; `chunks` gives the parts of a stream a short
way; below is uvicorn's own. `turns` reads with `offers`, a parser that declines other protocols; `chunks` writes
through `corked`, a transport that gathers writes, and answers HTTP/1.0 with `until_closed`.
"""
