import { z } from 'zod'
import { WEEKDAYS } from '../core/date-time.ts'
import { APPROVERS } from '../core/rights.ts'

const clockTime = z.string('must be a time in quotes, such as "16:00"')
/** The gate at which a worker or a gadget job waits before it starts. */
export const gateSchema = z
  .strictObject({
    message: z.string().optional().describe('A sentence for those who decide.'),
    approval: z
      .strictObject({
        count: z.int32().positive().optional().describe('Approvals that it takes. Left out: 1.'),
        role: z.enum(APPROVERS).optional().describe('The role that it takes in the project. Left out: any of these.'),
        authorMay: z.boolean().optional().describe('It may be approved by who has asked for it, too.'),
      })
      .optional()
      .describe('People open it.'),
    signal: z.string().optional().describe('The name of the signal that opens it.'),
    schema: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('JSON Schema of the object that comes with the signal. Left out: any object.'),
    until: z.string().optional().describe('The time at which it opens: ISO 8601 with a zone.'),
    freeze: z
      .strictObject({
        timeZone: z.string().optional().describe('IANA name, such as Europe/Berlin. Left out: UTC.'),
        ranges: z
          .array(
            z.strictObject({
              days: z.array(z.enum(WEEKDAYS)).optional().describe('Days on which it begins. Left out: all.'),
              from: clockTime.describe('Local time at which it begins, such as "16:00".'),
              to: clockTime.describe('Local time at which it ends, perhaps on the next day.'),
            }),
          )
          .describe('Hours of the week.'),
      })
      .optional()
      .describe('Hours in which it stays closed.'),
    http: z
      .strictObject({
        url: z.string().describe('The address that the server asks: http or https.'),
        secret: z
          .string()
          .optional()
          .describe('Name of a secret of the project: the address for which it is, and below it headers, one a line.'),
        headers: z.record(z.string(), z.string()).optional().describe('Headers that are no secrets, by name.'),
        until: z.string().describe('A CEL expression over status, headers and body. The gate opens once it is true.'),
        every: z.string().optional().describe('Duration from 1s to 1d between two requests. Left out: 30s.'),
      })
      .optional()
      .describe('The answer of an address opens it.'),
    timeout: z.string().optional().describe('Duration after which it is not opened any more, such as 2h.'),
  })
  .describe('Gate at which it waits before it starts.')
export type GateManifest = z.infer<typeof gateSchema>
