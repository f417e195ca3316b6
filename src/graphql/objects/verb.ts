import type { Verb, VerbFlag } from '../../core/verb.ts'
import { builder } from '../schema/builder.ts'
import { ObjectKindEnum, PhaseEnum, WhileDeletingEnum } from '../schema/enums.ts'

const VerbFlagRef = builder.objectRef<VerbFlag>('VerbFlag').implement({
  description: 'A boolean field of the input of a verb, false if left out.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the field in the input.' }),
    description: t.exposeString('description', { description: 'What the flag does, in one sentence.' }),
    confirmed: t.exposeBoolean('confirmed', {
      description:
        'The question in `confirm` covers the flag: a client that has asked it sets the flag. Other flags are set only when the user names them.',
    }),
  }),
})

export const VerbRef = builder.objectRef<Verb>('Verb').implement({
  description:
    'What a user may ask for of an object in some phases, and the mutation that asks for it: enough for a button or a command. The mutation judges for itself; a verb says when it is worth a try.',
  fields: (t) => ({
    machine: t.exposeString('machine', { description: 'The name of the state machine that has the verb.' }),
    kind: t.expose('kind', { type: ObjectKindEnum, description: 'The kind of the objects that the verb is for.' }),
    name: t.exposeString('name', {
      description: 'Unique for a kind, such as `cancel` or `delete`. Verbs of this name mean the same for all kinds.',
    }),
    label: t.exposeString('label', { description: 'What a button says.' }),
    mutation: t.exposeString('mutation', {
      description:
        'The name of the mutation. Its one argument `input` has the type of that name with a capital letter and `Input` at the end; it takes `id`, what `input` has, and the flags.',
    }),
    phases: t.field({
      type: [PhaseEnum],
      description: 'The phases of the machine in which the verb can be asked for.',
      resolve: ({ phases }) => [...phases],
    }),
    to: t.field({
      type: [PhaseEnum],
      nullable: true,
      description:
        'The verb takes a row of the machine to one of these phases, so it is there when `allowedTransitions` has such a row. Null: the verb asks the engine, and `phases` says when.',
      resolve: ({ to }) => to && [...to],
    }),
    rootsOnly: t.exposeBoolean('rootsOnly', { description: 'Only objects without a parent have the verb.' }),
    finished: t.exposeBoolean('finished', {
      nullable: true,
      description: 'Only objects whose `finished` is this have the verb; null: all.',
    }),
    whileDeleting: t.expose('whileDeleting', {
      type: WhileDeletingEnum,
      description: 'Whether the verb is there once the deletion of the object is requested.',
    }),
    confirm: t.exposeString('confirm', {
      nullable: true,
      description: 'What to ask first, with `{name}` for the name of the object; null: the verb is harmless.',
    }),
    danger: t.exposeBoolean('danger', { description: 'The verb cannot be taken back.' }),
    input: t.field({
      type: 'JSON',
      description: 'Fields of the input beside `id`, as an object: always sent as they are.',
      resolve: ({ input }) => input,
    }),
    flags: t.field({
      type: [VerbFlagRef],
      description: 'Flags that the input takes.',
      resolve: ({ flags }) => [...flags],
    }),
    otherwise: t.exposeString('otherwise', {
      nullable: true,
      description:
        'Why objects in other phases do not have the verb, in words that follow a count of them; null: nothing to add.',
    }),
  }),
})
