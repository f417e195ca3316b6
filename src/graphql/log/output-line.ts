import type { OutputLine } from '../../log/output/search-output.ts'
import { objectOf } from '../loaders.ts'
import { outputCursor } from '../schema/cursors.ts'
import { LogStreamEnum } from '../schema/enums.ts'
import { OutputLineRef, TreeObjectRef } from '../schema/refs.ts'

OutputLineRef.implement({
  description: 'A line of output among those of a tree or a project.',
  fields: (t) => ({
    cursor: t.string({
      description: 'Place among the lines of all objects, to resume from (`output(after:)`).',
      resolve: ({ seq }: OutputLine) => outputCursor.encode(seq),
    }),
    objectId: t.exposeID('objectId', { description: 'Id of the object whose output it is.' }),
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'The object whose output it is; null if it has been deleted since.',
      resolve: objectOf,
    }),
    lineCursor: t.exposeString('n', {
      description: 'Place among the lines of its object, for `logs(after:)`.',
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When the line was written, in the time of the server.' }),
    stream: t.expose('stream', { type: LogStreamEnum, description: 'The source of the line.' }),
    text: t.exposeString('text', { description: 'The line, at most 8,192 characters.' }),
  }),
})
