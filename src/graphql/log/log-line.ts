import { LogStreamEnum } from '../schema/enums.ts'
import { LogLineRef } from '../schema/refs.ts'

LogLineRef.implement({
  fields: (t) => ({
    cursor: t.exposeString('n'),
    at: t.expose('at', { type: 'DateTime' }),
    stream: t.expose('stream', { type: LogStreamEnum }),
    text: t.exposeString('text'),
  }),
})
