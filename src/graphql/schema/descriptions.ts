import { DEFAULT_PAGE, MAX_PAGE } from './limits.ts'

/** Shared descriptions of parts of the schema. */

const BOUNDS = `0 to ${MAX_PAGE}; not together with`

export const RELAY_DESCRIPTIONS = {
  connection: 'A page of a list, in the order of the list.',
  edge: 'An entry of a page.',
  edges: 'Entries of the page, in the order of the list; empty if there are none.',
  node: 'The entry itself.',
  cursor: 'Place of the entry in the list, for `after` and `before`. Opaque.',
  pageInfo: 'The neighbouring pages, and their cursors.',
  pageInfoType: 'The position of a page in its list.',
  hasNextPage:
    'True if entries follow the page. A page that is read backward (`last`) only says whether `before` was given.',
  hasPreviousPage:
    'True if entries precede the page. A page that is read forward (`first`) only says whether `after` was given.',
  startCursor: 'Cursor of the first entry; null on an empty page.',
  endCursor: 'Cursor of the last entry; null on an empty page.',
  first: `Reads forward at most this many entries: ${BOUNDS} \`last\`. Left out or null, with \`last\` too: ${DEFAULT_PAGE}.`,
  after: 'Starts after the entry with this cursor. Left out or null: at the start of the list.',
  last: `Reads backward at most this many entries: ${BOUNDS} \`first\`. Left out or null: reads forward.`,
  before: 'Ends before the entry with this cursor. Left out or null: at the end of the list.',
} as const

/** Options of the input field by which a mutation may be repeated. */
export const IDEMPOTENCY_KEY = {
  limit: 'idempotencyKey',
  description:
    'Names the request, for this caller, project and mutation; left out, null or empty: it has no name. A repetition with the same input within 24 hours changes nothing, and returns what the first call has written, as it is now. One with another input is refused (INVALID_INPUT), and so is one that comes after what was created is deleted.',
} as const
export const expectedGeneration = (of: string): string =>
  `Generation that ${of} must have; another one is refused (GENERATION_MISMATCH). Left out or null: any.`

export const INPUT_ARGUMENT = 'All arguments of the operation.'
export const FIRST_ENTRIES = 'At most this many entries, 0 or more.'
export const LEASE_MS =
  'Milliseconds that the lease lasts from now; 1,000 to 600,000, others are taken as the nearest of them.'

/** GraphiQL and other readers of the schema show it first. */
export const SCHEMA_DESCRIPTION = `Trees of dependent objects, whose phases only change as their state machines permit (\`stateMachines\`).

- Read: \`objects\`, \`tree\`, \`objectByPath\`, \`node\`. \`blockedBy\` of an object says what it waits for, \`error\` why it failed, \`verbs\` what a viewer may do.
- Write: a mutation answers with its result or with a typed error.
- Follow: \`phaseChanges(after:)\` resumes after any cursor, without a gap.

The protocol of agents (\`claimWork\`, \`reportPhases\`, \`connectCrm\` …) stands at the end of each list. The page *Changes of the schema* says what may change, and how it is announced.`
