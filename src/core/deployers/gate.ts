/** The schema of a `gate` item's config. No deployer gets such an item: people, a program or the clock open it. */

export const GATE = 'gate'

export interface GateConfig {
  readonly message?: string
  readonly approval?: ApprovalConfig
  readonly signal?: string
  readonly until?: string
}
export interface ApprovalConfig {
  readonly count?: number
  readonly role?: ApproverRole
  readonly authorMay?: boolean
}

export const MAX_APPROVALS = 10
/** Each may decide, unless the gate names one of them. */
export const APPROVER_ROLES = ['EDITOR', 'AUTHOR', 'ADMIN'] as const
export type ApproverRole = (typeof APPROVER_ROLES)[number]
const WORD = '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'

/** JSON Schema, draft 2020-12. Exactly one of the three opens it. */
export const GATE_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    message: { type: 'string', maxLength: 4_096, description: 'A sentence for those who decide.' },
    approval: {
      type: 'object',
      additionalProperties: false,
      properties: {
        count: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_APPROVALS,
          default: 1,
          description: 'Approvals that it takes.',
        },
        role: { enum: APPROVER_ROLES, description: 'The role that it takes in the project. By default any of these.' },
        authorMay: {
          type: 'boolean',
          default: false,
          description: 'The author of the spec, and the requester of the job, may approve, too.',
        },
      },
      description: 'People open it.',
    },
    signal: { type: 'string', pattern: WORD, description: 'The name of the signal that opens it.' },
    until: { type: 'string', maxLength: 64, description: 'The time at which it opens: ISO 8601 with a zone.' },
  },
  oneOf: [{ required: ['approval'] }, { required: ['signal'] }, { required: ['until'] }],
} as const
