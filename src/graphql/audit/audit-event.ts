import { AUDIT_OUTCOMES, type AuditOutcome, cursorAt, encodeAuditCursor } from '../../core/audit.ts'
import type { AuditRow } from '../../core/ports/audit.ts'
import { builder } from '../schema/builder.ts'

const OUTCOMES: Readonly<Record<AuditOutcome, string>> = {
  DONE: 'The request is written.',
  REFUSED: 'Nothing is written; `code` says why.',
  FAILED: 'The request ended in an error of its form or of the server; `code` says which.',
}
export const AuditOutcomeEnum = builder.enumType('AuditOutcome', {
  description: 'How a request has ended.',
  values: Object.fromEntries(AUDIT_OUTCOMES.map((name) => [name, { description: OUTCOMES[name] }])) as Record<
    AuditOutcome,
    { description: string }
  >,
})

export const AuditEventRef = builder.objectRef<AuditRow>('AuditEvent').implement({
  description:
    'Something that somebody did, or was refused: a mutation, a sign-in, a read of output or of secrets, or a request with a wrong token. It never has values of what was given.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique and permanent.' }),
    sequence: t.float({
      description: 'Place in the chain: 1 for the first event of all, without gaps.',
      resolve: ({ sequence }) => sequence,
    }),
    cursor: t.string({
      description: 'Position in the audit, to resume after this event: its sequence and the start of its hash.',
      resolve: (event) => encodeAuditCursor(cursorAt(event)),
    }),
    hash: t.string({
      description: 'SHA-256, in hexadecimal digits, of the hash of the event before it and of this one.',
      resolve: ({ hash }) => hash.toString('hex'),
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When it happened, by the clock of the database.' }),
    principalId: t.exposeID('principalId', {
      nullable: true,
      description: 'Id of who did it; null for a token that is not valid, and for the server itself.',
    }),
    principalName: t.exposeString('principalName', {
      nullable: true,
      description: 'Name that the principal had then; null for a token that is not valid.',
    }),
    tokenId: t.exposeID('tokenId', {
      nullable: true,
      description: 'Id of the token that was used; null for one that is not valid.',
    }),
    actor: t.exposeString('actor', {
      nullable: true,
      description: 'As whom the principal moves objects, such as USER; null for a token that is not valid.',
    }),
    address: t.exposeString('address', {
      nullable: true,
      description: 'Address that the request came from, of IPv6 the network; null if it was not over the network.',
    }),
    requestId: t.exposeString('requestId', {
      nullable: true,
      description:
        'The `x-request-id` of the request, or of the opening of its WebSocket; null if it was not over the network.',
    }),
    operation: t.exposeString('operation', {
      description:
        'The field of the API, such as `createToken`; otherwise `session.opened` for a WebSocket, `token.refused` for a token that is not valid, and `token.configured` and `token.replaced` for what a start does by its settings.',
    }),
    projectId: t.exposeID('projectId', {
      nullable: true,
      description: 'Id of the project that it concerns; null if there is none.',
    }),
    projectName: t.exposeString('projectName', {
      nullable: true,
      description: 'Name that the project had then; null if there is none.',
    }),
    objectId: t.exposeID('objectId', {
      nullable: true,
      description: 'Id of what was created, changed or asked for; null if it has none.',
    }),
    objectKind: t.exposeString('objectKind', {
      nullable: true,
      description: 'Kind of that, such as INSTALLATION, TOKEN or SECRET; null for a token that is not valid.',
    }),
    objectName: t.exposeString('objectName', {
      nullable: true,
      description: 'Its name then; null if it has none, or it is not known.',
    }),
    outcome: t.field({ type: AuditOutcomeEnum, description: 'How it ended.', resolve: ({ outcome }) => outcome }),
    code: t.exposeString('code', {
      nullable: true,
      description: 'Why it was refused or failed, as an ErrorCode; null if it was done.',
    }),
    fields: t.stringList({
      description: 'Names of the fields that the request gave, or of the secrets that it got; never their values.',
      resolve: ({ fields }) => [...fields],
    }),
    count: t.exposeInt('count', { description: 'Number of equal requests that this event stands for.' }),
  }),
})
export const AuditEventConnection = builder.connectionObject({ name: 'AuditEventConnection', type: AuditEventRef }, {})
