# Asks a howdah cluster by every method that yarn-api-client has, and compares what it says. Prints the methods that are left out.
import inspect
import sys
import time

from yarn_api_client import ApplicationMaster, HistoryServer, NodeManager, ResourceManager
from yarn_api_client.errors import APIError

CLIENTS = [ResourceManager, NodeManager, ApplicationMaster, HistoryServer]
address, done, sleeper, phase = sys.argv[1:]


def public(client):
    return {name for name, _ in inspect.getmembers(client, inspect.isfunction)
            if not name.startswith('_') and name in vars(client)}


called = set()


def watched(client):
    """Notes which of a client's own methods are called."""
    for name in public(client):
        def wrapper(self, *args, _name=name, _own=getattr(client, name), **kwargs):
            called.add(client.__name__ + '.' + _name)
            return _own(self, *args, **kwargs)
        setattr(client, name, wrapper)


# What there is nothing for here: how it is called to be refused, or None where it asks no server at all.
nothing = {}
LEFT_OUT = {
    'ResourceManager.cluster_application_attempt_containers': lambda: rm.cluster_application_attempt_containers('a', 'b'),
    'ResourceManager.cluster_application_attempt_container_info':
        lambda: rm.cluster_application_attempt_container_info('a', 'b', 'c'),
    'ResourceManager.cluster_node_update_resource': lambda: rm.cluster_node_update_resource('n', nothing),
    'ResourceManager.cluster_submit_application': lambda: rm.cluster_submit_application(nothing),
    'ResourceManager.cluster_new_application': lambda: rm.cluster_new_application(),
    'ResourceManager.cluster_node_container_memory': None,
    'ResourceManager.cluster_reservations': lambda: rm.cluster_reservations(),
    'ResourceManager.cluster_new_reservation': lambda: rm.cluster_new_reservation(),
    'ResourceManager.cluster_submit_reservation': lambda: rm.cluster_submit_reservation(nothing),
    'ResourceManager.cluster_update_reservation': lambda: rm.cluster_update_reservation(nothing),
    'ResourceManager.cluster_delete_reservation': lambda: rm.cluster_delete_reservation('r'),
    'ResourceManager.cluster_new_delegation_token': lambda: rm.cluster_new_delegation_token('r'),
    # These two fail inside the client before they ask anybody.
    'ResourceManager.cluster_renew_delegation_token': None,
    'ResourceManager.cluster_cancel_delegation_token': None,
    'ResourceManager.cluster_update_application_timeout':
        lambda: rm.cluster_update_application_timeout(app(sleeper), 'LIFETIME', '2030-01-01T00:00:00.000+0000'),
    'ResourceManager.cluster_scheduler_conf_mutation': lambda: rm.cluster_scheduler_conf_mutation(),
    'ResourceManager.cluster_modify_scheduler_conf_mutation': lambda: rm.cluster_modify_scheduler_conf_mutation(nothing),
    'ResourceManager.cluster_container_signal': lambda: rm.cluster_container_signal('c', 'GRACEFUL_SHUTDOWN'),
    'ResourceManager.scheduler_activities': lambda: rm.scheduler_activities(),
    'ResourceManager.application_activities': lambda: rm.application_activities(app(sleeper)),
    'NodeManager.auxiliary_services_update': lambda: nms[0].auxiliary_services_update(nothing),
}

ALL = {client.__name__ + '.' + name for client in CLIENTS for name in public(client)}
for client in CLIENTS:
    watched(client)


def app(job):
    return job.replace('job_', 'application_')


def wait_until(holds):
    until = time.time() + 60
    while not holds():
        assert time.time() < until
        time.sleep(0.2)


def counter(groups, group, name):
    found = [g for g in groups if g['counterGroupName'] == 'org.apache.hadoop.mapreduce.' + group][0]['counter']
    return [c for c in found if c['name'] == name][0]


rm = ResourceManager(['http://' + address])
if phase == 'fair':
    root = rm.cluster_scheduler().data['scheduler']['schedulerInfo']['rootQueue']
    assert root['childQueues']['queue'][0]['queueName'] == 'root.default', root
    print('all read')
    sys.exit()

# The cluster.
assert rm.get_active_endpoint() == 'http://' + address
assert rm.cluster_information().data['clusterInfo']['state'] == 'STARTED'
metrics = rm.cluster_metrics().data['clusterMetrics']
assert (metrics['activeNodes'], metrics['appsCompleted'], metrics['appsRunning']) == (2, 1, 1), metrics
nodes = rm.cluster_nodes().data['nodes']['node']
assert len(nodes) == 2 and rm.cluster_node(nodes[0]['id']).data['node']['state'] == 'RUNNING'
wait_until(lambda: rm.cluster_scheduler().data['scheduler']['schedulerInfo']['type'] == 'capacityScheduler')
queue = rm.cluster_scheduler_queue('default')
assert (queue['numActiveApplications'], queue['numContainers']) == (1, 1), queue
assert rm.cluster_scheduler_queue('none') is None
partition = rm.cluster_queue_partition(queue, '')
slots = metrics['totalVirtualCores']
assert abs(partition['absoluteUsedCapacity'] - 100 / slots) < 0.01, (partition, slots)
assert rm.cluster_scheduler_queue_availability(partition, 50)
assert not rm.cluster_scheduler_queue_availability(partition, 1)

# Its applications.
apps = rm.cluster_applications().data['apps']['app']
assert sorted(a['id'] for a in apps) == sorted([app(done), app(sleeper)]), apps
running = rm.cluster_applications(states=['RUNNING']).data['apps']['app']
assert [a['id'] for a in running] == [app(sleeper)], running
assert rm.cluster_applications(queue='none').data['apps'] is None
one = rm.cluster_application(app(done)).data['app']
assert (one['state'], one['finalStatus'], one['name']) == ('FINISHED', 'SUCCEEDED', 'wordcount'), one
assert rm.cluster_application_state(app(sleeper)).data['state'] == 'RUNNING'
assert rm.cluster_get_application_queue(app(sleeper)).data['queue'] == 'default'
assert rm.cluster_change_application_queue(app(sleeper), 'default').data == {'queue': 'default'}
try:
    rm.cluster_change_application_queue(app(sleeper), 'none')
    raise AssertionError('there is no such queue')
except APIError:
    pass
[attempt] = rm.cluster_application_attempts(app(done)).data['appAttempts']['appAttempt']
same = rm.cluster_application_attempt_info(app(done), attempt['appAttemptId']).data
assert (same['appAttemptState'], same['amContainerId']) == ('FINISHED', attempt['containerId']), same
items = rm.cluster_application_statistics(states=['FINISHED']).data['appStatInfo']['statItem']
assert [(i['state'], i['count']) for i in items] == [('FINISHED', 1)], items
assert rm.cluster_get_application_priority(app(sleeper)).data['priority'] == 3
assert rm.cluster_change_application_priority(app(sleeper), 5).data['priority'] == 5
wait_until(lambda: rm.cluster_get_application_priority(app(sleeper)).data['priority'] == 5)
try:
    rm.cluster_change_application_priority(app(sleeper), 9)
    assert False, 'priority 9'
except APIError as error:
    assert '400' in str(error) and 'VERY_HIGH' in str(error), error
[lifetime] = rm.cluster_application_timeouts(app(sleeper)).data['timeouts']['timeout']
assert rm.cluster_application_timeout(app(sleeper), 'LIFETIME').data['timeout'] == lifetime
assert lifetime['expiryTime'] == 'UNLIMITED', lifetime

# Its nodes.
nms = [NodeManager('http://' + node['nodeHTTPAddress']) for node in nodes]
assert sorted(nm.node_information().data['nodeInfo']['id'] for nm in nms) == sorted(n['id'] for n in nodes)
assert 'services' in nms[0].auxiliary_services().data
lists = [nm.node_containers().data['containers'] for nm in nms]
[(nm, container)] = [(nm, c) for nm, found in zip(nms, lists) if found for c in found['container']]
assert nm.node_container(container['id']).data['container']['state'] == 'RUNNING', container
here = nm.node_applications(state='RUNNING').data['apps']['app']
assert [(a['id'], a['containerids']) for a in here] == [(app(sleeper), [container['id']])], here
assert nm.node_application(app(sleeper)).data['app']['user'] == here[0]['user']
assert nm.node_applications(state='FINISHED').data['apps'] is None

# A job that runs, and one that is over: the same pages but for what begins and ends them.
am, hs = ApplicationMaster('http://' + address), HistoryServer('http://' + address)
assert am.application_information(app(sleeper)).data['info']['appId'] == app(sleeper)
assert am.jobs(app(sleeper)).data['jobs']['job'][0]['mapsRunning'] == 1
assert hs.application_information().data['historyInfo']['hadoopVersion'].startswith('3.')
assert [j['id'] for j in hs.jobs().data['jobs']['job']] == [done]
for of in [lambda name: lambda *args: getattr(hs, name)(done, *args),
           lambda name: lambda *args: getattr(am, name)(app(done), done, *args)]:
    job = of('job')().data['job']
    assert (job['mapsTotal'], job['reducesCompleted'], job['successfulMapAttempts']) == (1, 1, 1), job
    assert len(of('job_attempts')().data['jobAttempts']['jobAttempt']) == 1
    records = counter(of('job_counters')().data['jobCounters']['counterGroup'], 'TaskCounter', 'MAP_INPUT_RECORDS')
    assert (records['totalCounterValue'], records['mapCounterValue'], records['reduceCounterValue']) == (3, 3, 0), records
    assert isinstance(of('job_conf')().data['conf']['property'], list)
    tasks = of('job_tasks')().data['tasks']['task']
    assert [(t['type'], t['state']) for t in tasks] == [('MAP', 'SUCCEEDED'), ('REDUCE', 'SUCCEEDED')], tasks
    task = tasks[1]['id']
    assert of('job_task')(task).data['task'] == tasks[1]
    groups = of('task_counters')(task).data['jobTaskCounters']['taskCounterGroup']
    assert counter(groups, 'TaskCounter', 'REDUCE_OUTPUT_RECORDS')['value'] == 2, groups
    [attempt] = of('task_attempts')(task).data['taskAttempts']['taskAttempt']
    assert attempt['id'] == tasks[1]['successfulAttempt'] and attempt['elapsedReduceTime'] >= 0
    assert of('task_attempt')(task, attempt['id']).data['taskAttempt'] == attempt
    groups = of('task_attempt_counters')(task, attempt['id']).data['jobTaskAttemptCounters']['taskCounterGroup']
    assert counter(groups, 'TaskCounter', 'REDUCE_OUTPUT_RECORDS')['value'] == 2, groups
reduces = hs.job_tasks(done, job_type='r').data['tasks']['task']
assert [(t['type'], t['state']) for t in reduces] == [('REDUCE', 'SUCCEEDED')], reduces

# What is refused, with nothing changed.
for name, call in LEFT_OUT.items():
    if call is not None:
        try:
            call()
            assert False, name
        except APIError as error:
            assert '404' in str(error) or '405' in str(error), (name, error)

# An attempt is killed, and another takes its place; then the job.
[task] = am.job_tasks(app(sleeper), sleeper).data['tasks']['task']
[attempt] = am.task_attempts(app(sleeper), sleeper, task['id']).data['taskAttempts']['taskAttempt']
state = lambda: am.task_attempt_state(app(sleeper), sleeper, task['id'], attempt['id']).data['state']
assert state() == 'RUNNING'
am.task_attempt_state_kill(app(sleeper), sleeper, task['id'], attempt['id'])
wait_until(lambda: state() == 'KILLED')
wait_until(lambda: len(am.task_attempts(app(sleeper), sleeper, task['id']).data['taskAttempts']['taskAttempt']) == 2)
rm.cluster_application_kill(app(sleeper))
wait_until(lambda: rm.cluster_application_state(app(sleeper)).data['state'] == 'KILLED')
for nm in nms:
    wait_until(lambda: nm.node_containers().data['containers'] is None)

tried = called - set(LEFT_OUT)
assert tried == ALL - set(LEFT_OUT), (ALL - set(LEFT_OUT) - tried)
assert set(LEFT_OUT) <= ALL, set(LEFT_OUT) - ALL
print('\n'.join(sorted(name.split('.')[1] for name in LEFT_OUT)))
print('all read')
