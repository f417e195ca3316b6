import type { GraphQLObjectType, GraphQLSchema } from 'graphql'
import { PHASE_CLASSES } from '../../src/core/machine.ts'
import { type JsonSchema, objectOf } from './json-schema.ts'

/** Schemas of the messages of notification rules, as `families/notifications/rules/message.ts` makes them. */

const STRING = { type: 'string' } as const
const object = (properties: Readonly<Record<string, unknown>>): JsonSchema => ({
  ...{ type: 'object', required: Object.keys(properties), properties },
})
const FIELDS = [
  'sequence',
  'objectId',
  'rootId',
  'path',
  'kind',
  'name',
  'from',
  'to',
  'actor',
  'by',
  'reason',
  'message',
  'at',
]

export function changeOf(schema: GraphQLSchema): JsonSchema {
  const { properties } = objectOf(schema.getType('PhaseChange') as GraphQLObjectType, (field) => FIELDS.includes(field))
  return object({
    ...(properties as JsonSchema),
    parentPath: {
      type: ['string', 'null'],
      description: 'Path of the parent; null or empty: it is a root, or has none that is known.',
    },
    phaseClass: { type: ['string', 'null'], enum: [...PHASE_CLASSES, null], description: 'Class of the phase `to`.' },
    project: { type: ['string', 'null'], description: 'Name of its project.' },
  })
}

const OWN = {
  rule: { ...STRING, description: 'Name of the rule.' },
  project: { ...STRING, description: 'Name of the project of the rule.' },
  late: { type: 'boolean', description: 'True if it was sent again by hand, or after later ones of its object.' },
  text: { ...STRING, description: 'A sentence for people.' },
}
const CHANGE = { $ref: '#/components/schemas/Change' }

/** The content of a message, by its type. */
export const DATA: Readonly<Record<string, { readonly name: string; readonly schema: JsonSchema }>> = {
  'object.phase_changed': {
    name: 'PhaseChanged',
    schema: object({
      ...{ ...OWN, change: CHANGE },
      url: { type: ['string', 'null'], description: 'The object in the dashboard; null: the server knows no address.' },
    }),
  },
  'notification.digest': {
    name: 'Digest',
    schema: object({
      ...{ ...OWN, changes: { type: 'array', items: CHANGE } },
      omitted: { type: 'integer', minimum: 0, description: 'Number of further changes, which the log has.' },
    }),
  },
  'notification.test': {
    name: 'Test',
    schema: object({ ...OWN, by: { ...STRING, description: 'Who tries the rule.' } }),
  },
  'notification.gap': {
    name: 'Gap',
    schema: object({
      ...{ ...OWN, after: { type: 'integer', description: 'The last sequence before those that were pruned.' } },
      upTo: { type: 'integer', description: 'The last sequence of those.' },
    }),
  },
}

const dataOf = (type: string) => ({ $ref: `#/components/schemas/${DATA[type]?.name}Data` })
/** A constant, so that a reader tells messages apart. */
export const webhookOf = (type: string): JsonSchema =>
  object({ type: { const: type }, timestamp: { type: 'string', format: 'date-time' }, data: dataOf(type) })

export const cloudEventOf = (type: string): JsonSchema => {
  const event = object({
    ...{ specversion: { const: '1.0' }, id: STRING, source: STRING, type: { const: `dev.phaseline.${type}` } },
    ...{ time: { type: 'string', format: 'date-time' }, datacontenttype: { const: 'application/json' } },
    data: dataOf(type),
  })
  if (type !== 'object.phase_changed') return event
  const subject = { ...STRING, description: 'Id of the object.' }
  return {
    ...event,
    required: [...(event.required as string[]), 'subject'],
    properties: { ...(event.properties as object), subject },
  }
}

export const SLACK: JsonSchema = object({ text: STRING })
