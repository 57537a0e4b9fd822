"""Hostile bytes for everything that reads what comes from the network, from archives and from people.

``targets`` holds one function for each: it takes any bytes at all and asserts what must be true whatever they are. The
suite feeds them a little (``test_fuzz``, by hypothesis), and all that ever broke one (``findings``). By hand, from the
folder of the tests, for as long as there is time, led by coverage where atheris is installed:

    python -m fuzz robots --seconds 300
"""
