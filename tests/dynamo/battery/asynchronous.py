"""Coroutines, async generators, `async with` and `async for`, under a real event loop and by hand."""

import asyncio
import types


class Resource:
    """Notes who enters and leaves; swallows ValueError."""

    def __init__(self, log):
        self.log = log

    async def __aenter__(self):
        self.log.append("enter")
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, cls, error, trace):
        self.log.append(cls and cls.__name__)
        await asyncio.sleep(0)
        return cls is ValueError


class Countdown:
    """An async iterator that is no generator."""

    def __init__(self, n):
        self.n = n

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self.n == 0:
            raise StopAsyncIteration
        self.n -= 1
        return self.n


async def _ticks(n, log=None):
    try:
        for i in range(n):
            await asyncio.sleep(0)
            got = yield i
            if got is not None and log is not None:
                log.append(got)
    finally:
        if log is not None:
            log.append("closed")


@types.coroutine
def _suspend(value):
    return (yield value)


def tasks_take_turns():
    log = []

    async def work(name, n):
        for i in range(n):
            log.append((name, i))
            await asyncio.sleep(0)
        return name * n

    async def main():
        first = asyncio.create_task(work("a", 3))
        return await asyncio.gather(first, work("b", 2)), log

    return asyncio.run(main())


def async_with_swallows_and_passes_on():
    log = []

    async def main():
        async with Resource(log) as resource:
            log.append(resource.log is log)
            raise ValueError
        try:
            async with Resource(log), Resource(log):
                raise KeyError("k")
        except KeyError as error:
            log.append(error.args)

    asyncio.run(main())
    return log


def async_for_with_else_and_break():
    async def main():
        seen = []
        async for n in Countdown(3):
            seen.append(n)
        else:
            seen.append("else")
        async for n in _ticks(5):
            if n == 2:
                break
            seen.append(n)
        return seen

    return asyncio.run(main())


def async_comprehensions():
    async def main():
        return (
            [n async for n in _ticks(4) if n % 2],
            {n: await asyncio.sleep(0, n * n) async for n in _ticks(3)},
            sorted({n async for n in Countdown(3)}),
            [n async for n in (m * 2 async for m in _ticks(3))],
        )

    return asyncio.run(main())


def an_async_generator_is_sent_to_thrown_into_and_closed():
    async def main():
        log = []
        ticks = _ticks(5, log)
        out = [await ticks.asend(None), await ticks.asend("word"), ticks.ag_running]
        await ticks.aclose()
        other = _ticks(5, log)
        await anext(other)
        try:
            await other.athrow(LookupError("thrown"))
        except LookupError as error:
            out.append(str(error))
        return out, log, await anext(ticks, "empty")

    return asyncio.run(main())


def a_timeout_cancels():
    async def main():
        try:
            async with asyncio.timeout(0.001):
                await asyncio.sleep(60)
        except TimeoutError:
            return "too late"

    return asyncio.run(main())


def a_task_group_raises_a_group():
    async def fails(error):
        await asyncio.sleep(0)
        raise error

    async def main():
        caught = []
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fails(ValueError(1)))
                group.create_task(fails(KeyError(2)))
        except* ValueError as errors:
            caught.append(errors.exceptions)
        except* KeyError as errors:
            caught.append(errors.exceptions)
        return caught

    return asyncio.run(main())


def a_coroutine_is_awaited_once():
    async def main():
        once = asyncio.sleep(0, "x")
        return await once, await once

    return asyncio.run(main())


def what_no_await_takes():
    class Odd:
        def __aiter__(self):
            return 3

    class Liar:
        async def __aenter__(self):
            return 1

        def __aexit__(self, *error):
            return 3

    async def awaits():
        await 3

    async def goes_through():
        async for _ in [1]:
            pass

    async def goes_through_odd():
        async for _ in Odd():
            pass

    async def leaves():
        async with Liar():
            pass

    async def enters():
        async with 3:
            pass

    found = []
    for make in (awaits, goes_through, goes_through_odd, leaves, enters):
        try:
            make().send(None)
        except Exception as error:
            found.append((type(error), str(error)))
    return found


def a_coroutine_is_closed():
    log = []

    async def main():
        try:
            await _suspend(1)
        finally:
            log.append("finally")

    running = main()
    running.send(None)
    running.close()
    return log
