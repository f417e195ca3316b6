import {
  BLOCKER_REASON_DESCRIPTIONS,
  ERROR_CODE_DESCRIPTIONS,
  OBSTACLE_DESCRIPTIONS,
  PHASE_CLASS_DESCRIPTIONS,
  SHARED_WORDS,
  WHILE_DELETING_DESCRIPTIONS,
} from '../../core/descriptions.ts'
import {
  type Actor,
  type ErrorCode,
  FAILURE_CODES,
  type FamilyWords,
  type ObjectKind,
  type Phase,
  REFUSAL_CODES,
  type WorkAction,
} from '../../core/vocabulary.ts'
import { builder } from './builder.ts'

/** The values of an enum with their descriptions. */
function described<Value extends string>(
  descriptions: Readonly<Record<Value, string>>,
): Record<Value, { description: string }> {
  const values = Object.entries<string>(descriptions).map(([value, description]) => [value, { description }])
  return Object.fromEntries(values) as Record<Value, { description: string }>
}

/** Says of a code where it appears, unless it does in results and in `errors`. */
function withPlaces(descriptions: Readonly<Record<ErrorCode, string>>): Readonly<Record<ErrorCode, string>> {
  const isIn = (codes: readonly string[], code: string) => codes.includes(code)
  const said = Object.entries(descriptions).map(([code, meaning]) => {
    if (!isIn(FAILURE_CODES, code)) return [code, `${meaning} Only in results.`]
    return [code, isIn(REFUSAL_CODES, code) ? meaning : `${meaning} Only in \`errors\`.`]
  })
  return Object.fromEntries(said) as Readonly<Record<ErrorCode, string>>
}

/** Values that `setWords` gives: the compiler knows all of them. */
const open = <Value extends string>() => described({} as Readonly<Record<Value, string>>)

export const ObjectKindEnum = builder.enumType('ObjectKind', {
  description: 'The kind of an object. The kind decides its state machines, its parent and its own fields.',
  values: open<ObjectKind>(),
})
export const ActorEnum = builder.enumType('Actor', {
  description: 'A role in moving objects. The actor follows from the token of a request, never from its arguments.',
  values: open<Actor>(),
})
export const PhaseEnum = builder.enumType('Phase', {
  description:
    'Every phase of every machine; `stateMachines(kind:)` says which belong to a kind. In a final phase nothing runs, and nothing happens without a request.',
  values: open<Phase>(),
})
export const PhaseClassEnum = builder.enumType('PhaseClass', {
  description: 'Meaning of a phase for people, the same for all kinds. Every phase of a machine has a class.',
  values: described(PHASE_CLASS_DESCRIPTIONS),
})
export const WhileDeletingEnum = builder.enumType('WhileDeleting', {
  description: 'Availability of a verb once the deletion of an object is requested.',
  values: described(WHILE_DELETING_DESCRIPTIONS),
})
export const ObstacleEnum = builder.enumType('Obstacle', {
  description: 'Why a verb is not allowed. More may be added.',
  values: described(OBSTACLE_DESCRIPTIONS),
})
export const BlockerReasonEnum = builder.enumType('BlockerReason', {
  description: 'The kind of a blocker. Each reason has a type of blocker with fields of its own.',
  values: described(BLOCKER_REASON_DESCRIPTIONS),
})
export const ErrorCodeEnum = builder.enumType('ErrorCode', {
  description:
    'Why a request is refused or fails, for programs: `code` of each Error that is a member of a result, and `extensions.code` of each entry in `errors`. More may be added.',
  values: described(withPlaces(ERROR_CODE_DESCRIPTIONS)),
})
export const WorkActionEnum = builder.enumType('WorkAction', {
  description: "An agent's action on the object that it has claimed.",
  values: open<WorkAction>(),
})
export const LogStreamEnum = builder.enumType('LogStream', {
  description: 'The source of a line of output.',
  values: described({
    STDOUT: 'Standard output of the process.',
    STDERR: 'Standard error of the process.',
    STEP: 'A step that the agent or the gadget has announced.',
    SYSTEM: 'A note of Phaseline or of the agent about the output, such as how many lines are not kept.',
  }),
})

const OPEN_ENUMS = { kinds: ObjectKindEnum, phases: PhaseEnum, actors: ActorEnum, actions: WorkActionEnum } as const

/** Gives the enums the words that all families share, and those of these. A word of several families has all its meanings. */
export function setWords(families: readonly FamilyWords[]): void {
  for (const [key, ref] of Object.entries(OPEN_ENUMS)) {
    const words = [SHARED_WORDS, ...families].flatMap((all) => Object.entries(all[key as keyof FamilyWords] ?? {}))
    const values = [...Map.groupBy(words, ([word]) => word)].map(([value, meanings]) => {
      const description = meanings.map(([, meaning]) => meaning).join(' ')
      return [value, { value, description }] as const
    })
    ref.updateConfig((config) => ({ ...config, values: Object.fromEntries(values) }))
  }
}
