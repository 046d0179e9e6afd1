"""A process of another user, for sockets that look at who asks."""
import os
import pickle


def as_user(uid, gid, groups, work):
    """The result of `work()` in a child process of this user with these supplementary groups."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(read)
            os.setgroups(groups)
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
            with os.fdopen(write, "wb") as out:
                pickle.dump(work(), out)
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as source:
        data = source.read()
    if os.waitpid(child, 0)[1] != 0:
        raise AssertionError(f"the child of user {uid} failed")
    return pickle.loads(data)
