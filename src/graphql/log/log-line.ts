import { LogStreamEnum } from '../schema/enums.ts'
import { LogLineRef } from '../schema/refs.ts'

LogLineRef.implement({
  description: 'A line that an agent has captured from the work on an object.',
  fields: (t) => ({
    cursor: t.exposeString('n', {
      description: 'Place among the lines of the object, to resume from (`logs(after:)`).',
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When the line was written, in the time of the server.' }),
    stream: t.expose('stream', { type: LogStreamEnum, description: 'The source of the line.' }),
    text: t.exposeString('text', { description: 'The line, at most 8,192 characters.' }),
  }),
})
