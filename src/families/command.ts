import type { RefusalType } from '../core/errors.ts'
import type { OwnRefusalsOf } from '../core/ports/outcome.ts'
import type { Viewer } from '../core/ports/viewer.ts'

/** A command of users, with the types of its refusals besides those that each request can end in. */
export interface Command<Parts, Input extends readonly unknown[], Result, Type extends RefusalType> {
  readonly run: (parts: Parts, viewer: Viewer, ...input: Input) => Result
  readonly refusals: readonly Type[]
}

/**
 * A type that the command never ends in is a compile error here; a type that is missing is one where the API shows the
 * command's result.
 */
export const command = <Parts, Input extends readonly unknown[], Result, const Type extends OwnRefusalsOf<Result>>(
  run: (parts: Parts, viewer: Viewer, ...input: Input) => Result,
  refusals: readonly Type[],
): Command<Parts, Input, Result, Type> => ({ run, refusals })

type KeysOf<T> = T extends unknown ? keyof T : never
/** Refuses a property that the command does not read, which would be lost without a word. */
type NoMore<Read, Given> = Given extends object
  ? Given & { readonly [Key in Exclude<keyof Given, KeysOf<Read>>]: never }
  : Given

/** Commands as resolvers call them: with what each reads, and no more. */
export type Bound<Commands> = {
  readonly [Name in keyof Commands]: Commands[Name] extends Command<never, infer Input, infer Result, RefusalType>
    ? <const Given extends Input>(
        viewer: Viewer,
        ...input: { [Index in keyof Given]: NoMore<Index extends keyof Input ? Input[Index] : never, Given[Index]> }
      ) => Result
    : never
}

export const bindCommands = <
  Parts,
  Commands extends Readonly<Record<string, Command<Parts, never[], unknown, RefusalType>>>,
>(
  parts: Parts,
  commands: Commands,
): Bound<Commands> =>
  Object.fromEntries(
    Object.entries(commands).map(([name, { run }]) => [name, run.bind(null, parts)]),
  ) as unknown as Bound<Commands>
