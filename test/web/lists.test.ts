import { expect, test } from 'vitest'
import { isOrdinary, stuckAmong, stuckOf } from '../../src/client-model/stuck.ts'
import { ALL_OBJECTS, filterInput, OBJECT_FILTER, shownList } from '../../web-playground/src/model/filter.ts'
import { addChanges, addOlder, EMPTY_LOG, pauseLog, resumeLog } from '../../web-playground/src/model/log-buffer.ts'
import { LOG_FILTER, logFilterInput } from '../../web-playground/src/model/log-filter.ts'
import { type Column, DEFAULT_COLUMNS, withColumn } from '../../web-playground/src/model/object-columns.ts'
import { ObjectList } from '../../web-playground/src/model/object-list.ts'
import { change, machines, row } from './samples.ts'

const ids = (list: ObjectList) => list.rows.map(({ id }) => id)

test('a change moves its row on; one that is known already does not', () => {
  const list = new ObjectList(ALL_OBJECTS, machines)
  list.addPage([row('a', { revision: 5 })], false)
  list.change([change('a', 'FAILED', { revision: 5 })])
  expect(list.rows[0]?.phase).toBe('PENDING')
  list.change([change('a', 'SUCCEEDED', { revision: 6 }), change('a', 'FAILED', { revision: 4 })])
  expect(list.rows[0]).toMatchObject({ phase: 'SUCCEEDED', finished: true, revision: 6 })
})

test('refused requests and machines beside the phase move nothing', () => {
  const list = new ObjectList(ALL_OBJECTS, machines)
  const cloudlet = row('c', { kind: 'CLOUDLET', phase: 'OFFLINE' })
  list.addPage([cloudlet, row('a')], false)
  list.change([
    change('a', 'FAILED', { rejected: true, revision: 0 }),
    change('c', 'UPDATING', { kind: 'CLOUDLET', machine: 'cloudletUpgrade', revision: 9 }),
  ])
  expect(list.rows.map(({ phase }) => phase).sort()).toEqual(['OFFLINE', 'PENDING'])
})

test('a request that waits moves nothing, and its row is read again, also after the next change', () => {
  const list = new ObjectList(ALL_OBJECTS, machines)
  list.addPage([row('a')], false)
  const asked = change('a', 'PENDING', { from: 'PENDING', revision: 0 })
  expect(list.change([asked, change('other', 'PENDING', { from: 'PENDING', revision: 0 })])).toEqual(['a'])
  expect(list.rows[0]).toMatchObject({ phase: 'PENDING', revision: 1 })
  const pendingRequests = [{ verb: 'delete', mode: 'STANDARD', by: 'anna', at: null, message: 'later' }]
  list.insert([row('a', { pendingRequests })])
  expect(list.change([change('a', 'PROGRESSING', { revision: 2 })])).toEqual(['a'])
})

test('what is created is to be fetched, and takes its place; what is gone leaves', () => {
  const list = new ObjectList(ALL_OBJECTS, machines)
  list.addPage([row('b'), row('a')], false)
  expect(list.change([change('c', 'PENDING', { from: null })])).toEqual(['c'])
  list.insert([row('c', { createdAt: '2026-11-21T20:00:09.000Z' })])
  expect(ids(list)).toEqual(['c', 'b', 'a'])
  list.change([change('b', 'GONE')])
  expect(ids(list)).toEqual(['c', 'a'])
  // An answer that was on its way does not bring it back.
  list.insert([row('b')])
  expect(ids(list)).toEqual(['c', 'a'])
})

test('in the order of the last change, one of an object beyond the last page may bring it to the front', () => {
  const list = new ObjectList(
    { ...ALL_OBJECTS, roots: true, order: { field: 'PHASE_SINCE', direction: 'DESC' } },
    machines,
  )
  list.addPage([row('b'), row('a')], true)
  const since = '2026-11-21T20:00:09.000Z'
  expect(list.change([change('old', 'SUCCEEDED', { rootId: 'old' })])).toEqual(['old'])
  list.insert([row('old', { phaseSince: since })])
  expect(ids(list)[0]).toBe('old')
})

test('a page that was on its way while changes came in is not older than they are', () => {
  const list = new ObjectList(ALL_OBJECTS, machines)
  list.change([change('a', 'SUCCEEDED', { revision: 7 })])
  // Why it ended like this is in neither of the two.
  expect(list.addPage([row('a', { revision: 6 }), row('b')], false)).toEqual(['a'])
  expect(list.rows.find(({ id }) => id === 'a')).toMatchObject({ phase: 'SUCCEEDED', revision: 7, error: null })
  const error = { code: 'NO_ROOM', message: 'The disk is full.' }
  expect(list.insert([row('a', { phase: 'SUCCEEDED', revision: 7, error })])).toEqual([])
  expect(list.rows.find(({ id }) => id === 'a')).toMatchObject({ phase: 'SUCCEEDED', error })
})

test('a root that runs again is read once more where a column shows its last run', () => {
  const begins = (columns: readonly Column[]) => {
    const list = new ObjectList({ ...ALL_OBJECTS, columns }, machines)
    list.addPage([row('a', { phase: 'SUCCEEDED', finished: true })], false)
    return list.change([change('a', 'PENDING', { revision: 2 })])
  }
  expect(begins(['path', 'phase'])).toEqual([])
  expect(begins(['path', 'run'])).toEqual(['a'])
})

test('a new object that ended while it was fetched is fetched once more', () => {
  const list = new ObjectList(ALL_OBJECTS, machines)
  list.addPage([], false)
  expect(list.change([change('a', 'PENDING', { from: null, revision: 1 })])).toEqual(['a'])
  expect(list.change([change('a', 'FAILED', { revision: 4 })])).toEqual([])
  expect(list.insert([row('a', { revision: 3 })])).toEqual(['a'])
})

test('objects move into and out of a filter', () => {
  const list = new ObjectList({ ...ALL_OBJECTS, phases: ['FAILED'] }, machines)
  list.addPage([row('a', { phase: 'FAILED' })], false)
  expect(list.change([change('b', 'FAILED'), change('c', 'SUCCEEDED')])).toEqual(['b'])
  list.change([change('a', 'PENDING', { revision: 3 })])
  expect(ids(list)).toEqual([])
})

test('what comes after the last page that was read waits for its page', () => {
  const list = new ObjectList({ ...ALL_OBJECTS, order: { field: 'NAME', direction: 'ASC' } }, machines)
  list.addPage([row('a', { name: 'a' }), row('m', { name: 'm' })], true)
  list.insert([row('z', { name: 'z' }), row('c', { name: 'c' })])
  expect(ids(list)).toEqual(['a', 'c', 'm'])
})

test('a filter is written into the address and read from it', () => {
  const filter = {
    ...ALL_OBJECTS,
    kinds: ['TASK', 'EVENT'],
    phases: ['FAILED'],
    name: 'a b',
    roots: true,
    finished: false,
    order: { field: 'PHASE_SINCE', direction: 'DESC' },
  } as const
  expect(OBJECT_FILTER.write(filter)).toBe(
    '?kind=TASK,EVENT&phase=FAILED&name=a+b&roots=yes&finished=no&sort=-phase_since',
  )
  expect(OBJECT_FILTER.read(OBJECT_FILTER.write(filter))).toEqual(filter)
  expect(OBJECT_FILTER.write(ALL_OBJECTS)).toBe('')
  expect(filterInput(filter)).toEqual({
    kinds: ['TASK', 'EVENT'],
    phases: ['FAILED'],
    nameContains: 'a b',
    rootsOnly: true,
    finished: false,
  })
  // The server could not answer these.
  expect(OBJECT_FILTER.read('?kind=<script>&sort=phase_since')).toEqual(ALL_OBJECTS)
})

test('labels are in the address as people write them, whatever is in their values, and select rows as the server does', () => {
  const labels = [
    { key: 'app', value: 'shop' },
    { key: 'note', value: 'a,b=c%2C' },
  ]
  const written = OBJECT_FILTER.write({ labels })
  expect(written).toBe('?label=app=shop,note=a%252Cb=c%25252C')
  const filter = OBJECT_FILTER.read(written)
  expect(filter).toEqual({ ...ALL_OBJECTS, labels })
  expect(filterInput(filter)).toEqual({ labels })
  expect(OBJECT_FILTER.read('?label=,=x,nothing,-a=b')).toEqual(ALL_OBJECTS)
  const spaced = [{ key: 'note', value: ' as it is ' }]
  expect(OBJECT_FILTER.read(OBJECT_FILTER.write({ labels: spaced })).labels).toEqual(spaced)
  // A key has one value.
  expect(OBJECT_FILTER.read('?label=app=shop,app=web').labels).toEqual([{ key: 'app', value: 'web' }])
  const list = new ObjectList({ ...ALL_OBJECTS, labels: [{ key: 'app', value: 'shop' }] }, machines)
  list.addPage([row('a', { labels }), row('b'), row('c', { labels: [{ key: 'app', value: 'web' }] })], false)
  expect(ids(list)).toEqual(['a'])
})

test('columns are those of the address, those that were chosen last, or the default ones; the path is always there', () => {
  const nothing = { columns: [], roots: null }
  const chosen = { columns: ['path', 'id'], roots: null } as const
  const columnsAt = (address: string, choice: typeof nothing | typeof chosen) =>
    shownList(OBJECT_FILTER.read(address), choice).columns
  expect(columnsAt('', nothing)).toEqual(DEFAULT_COLUMNS)
  expect(columnsAt('?columns=nonsense', nothing)).toEqual(DEFAULT_COLUMNS)
  expect(columnsAt('?columns=error,kind', chosen)).toEqual(['path', 'kind', 'error'])
  expect(columnsAt('?kind=TASK', chosen)).toEqual(['path', 'id'])
  expect(OBJECT_FILTER.write(chosen)).toBe('?columns=path,id')
  expect(OBJECT_FILTER.write({ columns: DEFAULT_COLUMNS })).toBe('')
  expect(withColumn(['path', 'id'], 'kind', true)).toEqual(['path', 'kind', 'id'])
  expect(withColumn(['path', 'id'], 'id', false)).toEqual(['path'])
  expect(withColumn(['path', 'id'], 'path', false)).toEqual(['path', 'id'])
})

test('a list without a filter begins with the roots, unless somebody has switched that off; one with a filter has what it says', () => {
  const rootsAt = (address: string, roots: boolean | null) =>
    shownList(OBJECT_FILTER.read(address), { columns: [], roots }).roots
  expect([rootsAt('', null), rootsAt('?project=shop', null), rootsAt('?columns=path,id', null)]).toEqual([
    ...[true, true, true],
  ])
  expect([rootsAt('', false), rootsAt('?roots=yes', false), rootsAt('?roots=no', true)]).toEqual([false, true, false])
  // Links that were made before, and those of counts, name what they list.
  expect([rootsAt('?kind=DEPLOY_ITEM', null), rootsAt('?label=a=b', true)]).toEqual([null, null])
  expect(OBJECT_FILTER.write({ roots: false })).toBe('?roots=no')
  expect(filterInput({ ...ALL_OBJECTS, roots: false })).toEqual({})
})

test('a paused log holds what comes, and shows it in order afterwards', () => {
  const [a, b, c] = [change('a', 'INIT'), change('b', 'INIT'), change('c', 'INIT')]
  let log = addChanges(EMPTY_LOG, [a])
  log = addChanges(pauseLog(log), [b])
  log = addChanges(log, [c])
  expect([log.shown, log.held]).toEqual([[a], [b, c]])
  log = resumeLog(log)
  expect([log.shown, log.held, log.paused]).toEqual([[c, b, a], [], false])
  expect(addChanges(log, [change('d', 'INIT')], 2)).toMatchObject({ dropped: 2 })
})

test('older changes follow the shown ones, as far as there is room', () => {
  const [a, b, c] = [change('a', 'INIT'), change('b', 'INIT'), change('c', 'INIT')]
  const log = addOlder(addOlder(EMPTY_LOG, [c]), [b, a])
  expect(log.shown).toEqual([c, b, a])
  expect(addOlder(addOlder(EMPTY_LOG, [c], 2), [b, a], 2).shown).toEqual([c, b])
})

test('the address has the filter of the log, and the server is asked with it', () => {
  const filter = {
    project: 'shop',
    text: 'shop/web ann',
    kind: 'DEPLOY_ITEM',
    became: 'failed',
    actor: 'USER',
    rejected: 'only',
    last: null,
    since: '2026-11-20T00:00:00.000Z',
    until: '2026-11-21T00:00:00.000Z',
  } as const
  expect(LOG_FILTER.read(LOG_FILTER.write(filter))).toEqual(filter)
  expect(LOG_FILTER.write(LOG_FILTER.all)).toBe('')
  expect(LOG_FILTER.read('?kind=<script>&since=never&last=aeon&refused=maybe')).toEqual(LOG_FILTER.all)
  const phasesOf = (name: string) => (name === 'failed' ? ['FAILED', 'ABORTED'] : [])
  expect(logFilterInput(filter, phasesOf, 0)).toEqual({
    project: 'shop',
    search: 'shop/web ann',
    kinds: ['DEPLOY_ITEM'],
    to: ['FAILED', 'ABORTED'],
    actors: ['USER'],
    since: '2026-11-20T00:00:00.000Z',
    until: '2026-11-21T00:00:00.000Z',
    includeRejected: true,
    onlyRejected: true,
  })
  expect(logFilterInput({ ...LOG_FILTER.all, last: 'hour', text: ' ' }, phasesOf, 3_600_000)).toEqual({
    since: '1970-01-01T00:00:00.000Z',
    includeRejected: true,
  })
})

test('stuck is what waits for something that will not come by itself, told once and where it is', () => {
  const lacking = { reason: 'AGENT', message: 'no helm agent', connected: false }
  const objects = [
    { ...row('root'), blockedBy: [lacking] },
    { ...row('item', { parent: { id: 'root' }, phaseSince: '2026-11-21T19:00:00.000Z' }), blockedBy: [lacking] },
    { ...row('next'), blockedBy: [{ reason: 'DEPENDENCY', message: 'item first' }] },
    { ...row('soon'), blockedBy: [{ reason: 'AGENT', message: 'an agent is there', connected: true }] },
    { ...row('lock'), blockedBy: [{ reason: 'LOCK', message: 'held by x' }] },
  ]
  // Nothing is said of what was not read.
  expect(stuckAmong(200, 200)).toEqual({ isPart: false, none: 'Nothing is stuck.' })
  expect(stuckAmong(200, 1_234).none).toBe('Nothing is stuck among the first 200 of 1,234 unfinished objects.')
  expect(stuckOf(objects).map(({ object }) => object.id)).toEqual(['item'])
  // No warning is drawn of what a healthy tree waits for.
  expect(objects.flatMap(({ blockedBy }) => blockedBy.map(isOrdinary))).toEqual([false, false, true, true, true])
  expect(['CHILDREN', 'PARENT', 'REQUEST', 'BACKOFF'].map((reason) => isOrdinary({ reason }))).toEqual([
    ...[true, true, true],
    false,
  ])
  // A person's decision comes first, and once: not again for objects that wait for it, finished or not.
  const decision = (id: string) => ({ reason: 'DECISION', message: `decide about ${id}`, object: { id }, verbs: [] })
  const job = { ...row('job', { phaseSince: '2026-11-22T20:00:00.000Z' }), blockedBy: [decision('job')] }
  const cloudlet = { ...row('cloudlet', { finished: true }), blockedBy: [decision('cloudlet')] }
  const next = { ...row('next'), blockedBy: [decision('job'), { reason: 'DEPENDENCY', message: 'job' }] }
  const asked = { ...row('asked'), blockedBy: [{ reason: 'REQUEST', message: 'delete requested' }] }
  const stuck = stuckOf([...objects, next, job, asked], [job, cloudlet])
  expect(stuck.map(({ object }) => object.id)).toEqual(['cloudlet', 'job', 'item'])
})
