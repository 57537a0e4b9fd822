"""Crawls that are disturbed in ways drawn from a seed, and held against what was promised all the same.

    draw    a seed becomes a plan: sites, settings, faults of servers and names, kills, broken disks, restarts
    web     the sites of a plan, with their faults
    ride    carries a plan out: the same command again and again, disturbed until the last time
    judge   what the server's log and the files say of it; shares no code with the crawler

The suite runs twenty seeds (``test_chaos``). By hand, from the folder of the tests:

    python -m chaos --seeds 0-299            a table, and for each failing seed all it takes to look into it
    python -m chaos --seeds 17 --keep DIR    the collection, the server's log and what the crawler said stay in DIR
"""
