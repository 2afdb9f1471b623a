"""Settings of the broker that were each seen to matter: what they are and why."""

import asyncio
import uuid

from celery import current_app
from django.conf import settings

from runner import streams
from runner.doorbell import TASK
from runner.procedures import registry


def test_an_id_is_acknowledged_late_and_given_back_when_its_worker_is_lost() -> None:
    assert current_app.conf.task_acks_late
    assert current_app.conf.task_reject_on_worker_lost


def test_a_worker_takes_no_id_that_another_one_could_run() -> None:
    assert current_app.conf.worker_prefetch_multiplier == 1


def test_no_result_is_kept() -> None:
    assert current_app.conf.result_backend is None
    assert current_app.conf.task_ignore_result


def test_no_message_comes_a_second_time_while_its_run_may_still_run() -> None:
    options = current_app.conf.broker_transport_options
    longest = max(procedure.wall_seconds for procedure in registry().PROCEDURES.values())
    assert longest <= settings.RUN_LONGEST_SECONDS
    assert options["visibility_timeout"] > settings.RUN_LONGEST_SECONDS + settings.RUN_GRACE_SECONDS
    assert options["unacked_restore_interval"] <= 10


def test_no_socket_waits_for_ever() -> None:
    options = current_app.conf.broker_transport_options
    assert options["socket_timeout"] > 1  # above the wait of BRPOP itself
    assert options["socket_connect_timeout"] <= 3


def test_a_worker_never_gives_its_broker_up() -> None:
    assert current_app.conf.broker_connection_max_retries is None


def test_pools_have_a_size() -> None:
    assert current_app.conf.broker_pool_limit
    assert settings.REDIS_POOL


def test_the_task_carries_only_an_id_and_is_found_by_its_name() -> None:
    current_app.loader.import_default_modules()
    assert TASK in current_app.tasks


def test_the_broker_is_the_server_that_redis_url_names() -> None:
    assert settings.CELERY_BROKER_URL == settings.REDIS_URL.replace("unix://", "redis+socket://")


def test_every_client_of_a_process_takes_its_connections_from_one_bounded_pool() -> None:
    pools = {id(streams.client().connection_pool) for _ in range(3)}
    assert len(pools) == 1
    assert streams.client().connection_pool.max_connections == settings.REDIS_POOL


async def test_every_hub_of_a_loop_takes_its_connection_from_one_bounded_pool() -> None:
    pools = {id(streams.async_client().connection_pool) for _ in range(3)}
    assert len(pools) == 1
    assert streams.async_client().connection_pool.max_connections == settings.REDIS_POOL


async def test_a_read_that_was_broken_off_leaves_nothing_for_the_next_one() -> None:
    mine, other = uuid.uuid4(), uuid.uuid4()
    reading = asyncio.create_task(streams.read(streams.async_client(), mine, 0))
    await asyncio.sleep(0.2)
    reading.cancel()
    await asyncio.wait({reading})
    await asyncio.to_thread(streams.publish, streams.client(), mine, [(1, "mine")])
    await asyncio.to_thread(streams.publish, streams.client(), other, [(1, "other")])
    assert await streams.read(streams.async_client(), other, 0) == [(1, "other")]
