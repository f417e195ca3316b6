/** Ten verbs as operations that a program posts as they are. A test posts each. */

export interface Verb {
  readonly summary: string
  readonly query: string
  /** The id is none; the test replaces it. */
  readonly input: Readonly<Record<string, unknown>>
  readonly answer: Readonly<Record<string, unknown>>
}

const REFUSED = '... on Error { code message }'
const mutation = (name: string, done: string): string => {
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  return `mutation ${title}($input: ${title}Input!) { ${name}(input: $input) { __typename ${done} ${REFUSED} } }`
}
const INSTALLATION = '... on Installation { id phase generation }'
const ID = '0198c0de-0000-7000-8000-000000000000'
const installation = (phase: string) => ({ __typename: 'Installation', id: ID, phase, generation: 1 })
const SPEC = { deployItems: [{ name: 'web', type: 'mock', config: {} }] }

export const VERBS: Readonly<Record<string, Verb>> = {
  createInstallation: {
    summary: 'Create an installation',
    query: mutation('createInstallation', INSTALLATION),
    input: { name: 'shop', spec: SPEC, idempotencyKey: 'order-4711' },
    answer: installation('PROGRESSING'),
  },
  updateInstallation: {
    summary: 'Give it a new spec',
    query: mutation('updateInstallation', INSTALLATION),
    input: { id: ID, description: 'The shop of the website.', expectedGeneration: 1 },
    answer: installation('PROGRESSING'),
  },
  reconcileInstallation: {
    summary: 'Begin a job',
    query: mutation('reconcileInstallation', INSTALLATION),
    input: { id: ID, mode: 'STANDARD' },
    answer: installation('PROGRESSING'),
  },
  cancelInstallation: {
    summary: 'Cancel the job that runs',
    query: mutation('cancelInstallation', INSTALLATION),
    input: { id: ID, reason: 'The wrong version.' },
    answer: installation('PROGRESSING'),
  },
  pause: {
    summary: 'Pause a tree',
    query: mutation('pause', '... on PausedTree { object { id } }'),
    input: { id: ID, reason: 'Maintenance until noon.' },
    answer: { __typename: 'PausedTree', object: { id: ID } },
  },
  deleteInstallation: {
    summary: 'Delete an installation',
    query: mutation('deleteInstallation', '... on Installation { id }'),
    input: { id: ID },
    answer: { __typename: 'Installation', id: ID },
  },
  approve: {
    summary: 'Approve a deploy item that waits at a gate',
    query: mutation('approve', '... on DeployItem { id name }'),
    input: { id: ID, comment: 'Ship it.' },
    answer: { __typename: 'DeployItem', id: ID, name: 'go' },
  },
  createEvent: {
    summary: 'Create an event',
    query: mutation('createEvent', '... on CreatedEvents { events { id phase } }'),
    input: { project: 'website', source: 'github.com/acme/shop', type: 'push', payload: '{"ref":"main"}' },
    answer: { __typename: 'CreatedEvents', events: [{ id: ID, phase: 'STARTING' }] },
  },
  cancelEvent: {
    summary: 'Cancel an event',
    query: mutation('cancelEvent', '... on Event { id phase }'),
    input: { id: ID, reason: 'A newer push has come.' },
    answer: { __typename: 'Event', id: ID, phase: 'ABORTED' },
  },
  createTask: {
    summary: 'Create a task',
    query: mutation('createTask', '... on Task { id phase }'),
    input: { name: 'restart', jobs: [{ name: 'drain', gadget: 'drain' }] },
    answer: { __typename: 'Task', id: ID, phase: 'RUNNING' },
  },
}
