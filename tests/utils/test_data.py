"""Datasets, samplers, collation and the DataLoader, with and without worker processes. Messages are PyTorch's."""

from __future__ import annotations

import collections
import os
import subprocess
import sys

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.utils.data import (
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    default_convert,
    get_worker_info,
    random_split,
)

Point = collections.namedtuple("Point", "x y")


class Squares(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        info = get_worker_info()
        return torch.tensor(i * i), -1 if info is None else info.id


class Processes(Squares):
    """Item i is the process that fetches it."""

    first = 0

    def __getitem__(self, i):
        return os.getpid() if i else self.first


class Refusing(Squares):
    def __getitem__(self, i):
        raise KeyError(f"no item {i}")


class Dying(Squares):
    def __getitem__(self, i):
        os._exit(7)


class Counting(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        start, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(start, 7, step))


def lists(loader):
    return [batch.tolist() for batch in loader]


class TestDatasets:
    def test_by_index(self):
        pairs = TensorDataset(torch.arange(4), torch.arange(4) * 10)
        assert [x.item() for x in pairs[3]] == [3, 30]
        assert [x.item() for x in ConcatDataset([pairs, pairs])[-1]] == [3, 30]
        assert [x.item() for x in (pairs + pairs)[4]] == [0, 0]
        assert Subset(range(9), [8, 2])[1] == 2
        assert StackDataset(a=[1, 2], b=[3, 4])[1] == {"a": 2, "b": 4}
        assert StackDataset([1, 2], [3, 4])[0] == (1, 3)
        assert list(ChainDataset([Counting(), Counting()])) == [*range(7), *range(7)]

    def test_a_split_has_every_item_once(self):
        parts = random_split(range(11), [0.5, 0.5], torch.Generator().manual_seed(1))
        assert [len(p) for p in parts] == [6, 5]
        assert sorted(i for part in parts for i in part) == list(range(11))
        again = random_split(range(11), [6, 5], torch.Generator().manual_seed(1))
        assert [list(p) for p in parts] == [list(p) for p in again]

    def test_errors(self):
        with pytest.raises(AssertionError, match="Size mismatch between tensors"):
            TensorDataset(torch.zeros(2), torch.zeros(3))
        with pytest.raises(ValueError, match="Sum of input lengths does not equal"):
            random_split(range(10), [3, 3])
        with pytest.raises(ValueError, match="absolute value of index"):
            ConcatDataset([[1]])[-2]
        with pytest.raises(TypeError, match="has no len"):
            len(DataLoader(Counting()))


class TestSamplers:
    def test_orders(self):
        assert list(SequentialSampler(range(3))) == [0, 1, 2]
        assert sorted(RandomSampler(range(5))) == list(range(5))
        assert len(list(RandomSampler(range(3), num_samples=7))) == 7
        assert set(RandomSampler(range(3), replacement=True, num_samples=50)) == {0, 1, 2}
        assert sorted(SubsetRandomSampler([3, 9])) == [3, 9]
        assert list(WeightedRandomSampler([0, 2.0], 3)) == [1, 1, 1]
        assert list(BatchSampler(range(5), 2, True)) == [[0, 1], [2, 3]]
        assert len(BatchSampler(range(5), 2, False)) == 3

    def test_every_process_gets_its_part(self):
        parts = [DistributedSampler(range(7), 3, rank) for rank in range(3)]
        assert [len(p) for p in parts] == [3, 3, 3]
        first = [i for p in parts for i in p]
        assert set(first) == set(range(7)) and len(first) == 9
        for part in parts:
            part.set_epoch(1)
        assert [i for p in parts for i in p] != first
        dropping = [list(DistributedSampler(range(7), 3, rank, shuffle=False, drop_last=True)) for rank in range(3)]
        assert dropping == [[0, 3], [1, 4], [2, 5]]
        with pytest.raises(ValueError, match="Invalid rank 3"):
            DistributedSampler(range(7), 3, 3)

    def test_a_generator_decides(self):
        first, second = (list(RandomSampler(range(20), generator=torch.Generator().manual_seed(s))) for s in (3, 3))
        assert first == second

    @pytest.mark.parametrize(
        ("make", "error", "message"),
        [
            (
                lambda: RandomSampler([]),
                ValueError,
                "num_samples should be a positive integer value, but got num_samples=0",
            ),
            (lambda: RandomSampler([1], replacement=1), TypeError, "replacement should be a boolean value"),
            (lambda: WeightedRandomSampler([[1]], 1), ValueError, "weights should be a 1d sequence"),
            (lambda: BatchSampler([1], 0, False), ValueError, "batch_size should be a positive integer value"),
        ],
    )
    def test_errors(self, make, error, message):
        with pytest.raises(error, match=message):
            make()


class TestCollation:
    def test_containers_item_by_item(self):
        batch = default_collate([{"p": Point(1, 2.0), "name": "a"}, {"p": Point(3, 4.0), "name": "b"}])
        assert type(batch["p"]) is Point and batch["p"].x.tolist() == [1, 3]
        assert batch["p"].y.dtype is torch.float64 and batch["name"] == ["a", "b"]

    def test_numpy_and_tensors(self):
        assert default_collate([np.ones(2, np.float32)] * 3).shape == (3, 2)
        assert default_collate([np.float32(1), np.float32(2)]).dtype is torch.float32
        assert default_collate([True, False]).dtype is torch.bool
        converted = default_convert({"a": np.ones(2), "b": (np.int32(1), "s")})
        assert converted["a"].dtype is torch.float64 and converted["b"][1] == "s"

    def test_errors(self):
        with pytest.raises(TypeError, match="batch must contain tensors, numpy arrays, numbers, dicts or lists; found"):
            default_collate([object()])
        with pytest.raises(RuntimeError, match="each element in list of batch should be of equal size"):
            default_collate([(1, 2), (1,)])


class TestLoading:
    def test_batches_in_order(self):
        assert lists(DataLoader(range(5), batch_size=2)) == [[0, 1], [2, 3], [4]]
        assert lists(DataLoader(range(5), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]
        assert list(DataLoader(range(3), batch_size=None)) == [0, 1, 2]
        assert lists(DataLoader(Counting(), batch_size=4)) == [[0, 1, 2, 3], [4, 5, 6]]
        assert lists(DataLoader(range(9), sampler=[4, 2, 8], batch_size=2)) == [[4, 2], [8]]
        assert lists(DataLoader(range(9), batch_sampler=[[1], [2, 3]])) == [[1], [2, 3]]
        assert list(DataLoader(range(3), collate_fn=sum, batch_size=2)) == [1, 2]

    def test_shuffled_batches_have_every_item_once(self):
        loader = DataLoader(range(20), batch_size=3, shuffle=True, generator=torch.Generator().manual_seed(0))
        first, second = lists(loader), lists(loader)
        assert sorted(sum(first, [])) == sorted(sum(second, [])) == list(range(20))
        assert first != second

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"batch_size": 0}, "batch_size should be a positive integer value"),
            ({"shuffle": True, "sampler": [0]}, "sampler option is mutually exclusive with shuffle"),
            ({"batch_size": 2, "batch_sampler": [[0]]}, "batch_sampler option is mutually exclusive"),
            ({"batch_size": None, "drop_last": True}, "batch_size=None option disables auto-batching"),
            ({"num_workers": -1}, "num_workers option should be non-negative"),
            ({"prefetch_factor": 2}, "prefetch_factor option could only be specified in multiprocessing"),
            ({"persistent_workers": True}, "persistent_workers option needs num_workers > 0"),
            ({"num_workers": 1, "multiprocessing_context": "spoon"}, "should specify a valid start method"),
        ],
    )
    def test_options_that_will_not_do(self, options, message):
        with pytest.raises(ValueError, match=message):
            DataLoader(range(3), **options)

    def test_options_are_fixed(self):
        with pytest.raises(ValueError, match="batch_size attribute should not be set after DataLoader is initialized"):
            DataLoader(range(3)).batch_size = 2


class TestWorkers:
    """Each test starts processes, which takes a second."""

    def test_batches_come_in_order_from_several_workers_in_several_epochs(self):
        loader = DataLoader(Squares(7), batch_size=2, num_workers=2, persistent_workers=True)
        for _ in range(2):
            batches = list(loader)
            assert [x.tolist() for x, _ in batches] == [[0, 1], [4, 9], [16, 25], [36]]
            assert [worker.tolist()[0] for _, worker in batches] == [0, 1, 0, 1]
        next(iter(loader))  # an epoch that is left early
        assert [x.tolist() for x, _ in loader] == [[0, 1], [4, 9], [16, 25], [36]]

    def test_an_iterable_dataset_is_divided_by_worker_info(self):
        assert sorted(sum(lists(DataLoader(Counting(), batch_size=2, num_workers=2)), [])) == list(range(7))

    def test_processes_stay_and_get_the_dataset_anew_in_each_epoch(self):
        loader = DataLoader(Processes(3), batch_size=None, num_workers=1)
        before = list(loader)
        loader.dataset.first = 7
        assert list(loader) == [7, *before[1:]]
        here, there = iter(loader), iter(loader)  # at the same time: other processes
        assert [next(here), next(here)][1] != [next(there), next(there)][1]

    def test_an_error_in_a_worker_is_raised_here_with_its_traceback(self):
        with pytest.raises(KeyError) as caught:
            list(DataLoader(Refusing(3), num_workers=1))
        assert "Caught KeyError in DataLoader worker process 0." in str(caught.value)
        assert "no item 0" in str(caught.value)

    def test_a_worker_that_dies_is_noticed(self):
        with pytest.raises(RuntimeError, match="exited unexpectedly with exit code 7"):
            list(DataLoader(Dying(3), num_workers=1))

    def test_without_workers_where_they_cannot_be_started(self):
        loader = DataLoader(range(3), num_workers=1, collate_fn=lambda items: items)
        with pytest.warns(RuntimeWarning, match="collate_fn can't be sent to a worker process.*loaded in this process"):
            assert list(loader) == [[0], [1], [2]]
        assert list(loader) == [[0], [1], [2]]  # the second epoch says nothing
        with pytest.raises(RuntimeError, match="collate_fn can't be sent to a worker process"):
            list(DataLoader(range(3), num_workers=1, collate_fn=lambda items: items, multiprocessing_context="spawn"))

    def test_a_script_without_guard_is_not_run_again_by_workers(self, tmp_path):
        script = tmp_path / "train.py"
        script.write_text(
            "from minitorch_compile.utils.data import DataLoader\n"
            "print('the script')\n"
            "print([batch.tolist() for batch in DataLoader([1, 2], num_workers=1)])\n"
        )
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=600)
        assert done.stdout == "the script\n[[1], [2]]\n"
        assert "would run it once more up to" in done.stderr


def test_a_loader_shows_the_context_that_it_was_given() -> None:
    # Libraries make a loader anew of the attributes of another: PyTorch's has None where none was given.
    assert DataLoader(range(3)).multiprocessing_context is None
    shown = DataLoader(range(3), num_workers=1, multiprocessing_context="spawn").multiprocessing_context
    assert shown.get_start_method() == "spawn"
