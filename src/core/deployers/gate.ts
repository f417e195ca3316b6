import { type QuietHoursInput, WEEKDAYS } from '../date-time.ts'
import { APPROVERS } from '../rights.ts'

/** The schema of a `gate` item's config, and of the gate before which another object waits. No agent gets what waits: people, a program, the clock or an address open it. */

export const GATE = 'gate'

export interface GateConfig {
  readonly message?: string
  readonly approval?: ApprovalConfig
  readonly signal?: string
  /** JSON Schema of the object that comes with the signal. */
  readonly schema?: Readonly<Record<string, unknown>>
  readonly until?: string
  /** During which it stays closed. */
  readonly freeze?: QuietHoursInput
  readonly http?: HttpGateConfig
}
export interface HttpGateConfig {
  readonly url: string
  /** Name of a secret of the project. */
  readonly secret?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly until: string
  readonly every?: string
}
/** The gate at which an object waits before it starts. */
export interface StartGateConfig extends GateConfig {
  /** A duration such as 2h, after which it is not opened any more; absent: none. */
  readonly timeout?: string
}
export interface ApprovalConfig {
  readonly count?: number
  readonly role?: ApproverRole
  readonly authorMay?: boolean
}

export const MAX_APPROVALS = 10
export type ApproverRole = (typeof APPROVERS)[number]
const TIME = '^([01][0-9]|2[0-3]):[0-5][0-9]$'
const WORD = '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'

/** A config has exactly one of these, which opens the gate. */
export const OPENERS = ['approval', 'signal', 'until', 'freeze', 'http'] as const

/** JSON Schema, draft 2020-12. That exactly one of OPENERS is there is judged apart: the words of a schema about it are hard to read. */
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
        role: { enum: APPROVERS, description: 'The role that it takes in the project. By default any of these.' },
        authorMay: {
          type: 'boolean',
          default: false,
          description: 'The author of the spec, and the requester of the job, may approve, too.',
        },
      },
      description: 'People open it.',
    },
    signal: { type: 'string', pattern: WORD, description: 'The name of the signal that opens it.' },
    schema: {
      type: 'object',
      description: 'JSON Schema (draft 2020-12) of the object that comes with the signal. By default any object.',
    },
    until: { type: 'string', maxLength: 64, description: 'The time at which it opens: ISO 8601 with a zone.' },
    freeze: {
      type: 'object',
      required: ['ranges'],
      additionalProperties: false,
      properties: {
        timeZone: { type: 'string', maxLength: 255, description: 'IANA name, such as Europe/Berlin. By default UTC.' },
        ranges: {
          type: 'array',
          minItems: 1,
          maxItems: 20,
          items: {
            type: 'object',
            required: ['from', 'to'],
            additionalProperties: false,
            properties: {
              days: { type: 'array', maxItems: 7, items: { enum: WEEKDAYS }, description: 'Days on which it begins.' },
              from: { type: 'string', pattern: TIME, description: 'Local time at which it begins, such as 16:00.' },
              to: {
                type: 'string',
                pattern: TIME,
                description: 'Local time at which it ends, perhaps on the next day.',
              },
            },
          },
        },
      },
      description: 'Hours in which it stays closed. It opens as soon as none of them is.',
    },
    http: {
      type: 'object',
      required: ['url', 'until'],
      additionalProperties: false,
      properties: {
        url: { type: 'string', maxLength: 4_096, description: 'The address that the server asks: http or https.' },
        secret: {
          type: 'string',
          maxLength: 128,
          description:
            'Name of a secret of the project: the address for which it is, and below it headers, one a line.',
        },
        headers: {
          type: 'object',
          additionalProperties: { type: 'string' },
          description: 'Headers that are no secrets, by name.',
        },
        until: {
          type: 'string',
          maxLength: 4_096,
          description: 'A CEL expression over status, headers and body. The gate opens once it is true.',
        },
        every: { type: 'string', description: 'A duration from 1s to 1d. By default 30s.' },
      },
      description: 'The answer of an address opens it.',
    },
  },
} as const
