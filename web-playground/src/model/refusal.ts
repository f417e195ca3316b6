import type { FieldProblem, Refusal } from 'phaseline/client-model'

const ADVICE: Readonly<Record<string, string>> = {
  ALREADY_EXISTS: 'Choose another name, or open the one that is there.',
  GENERATION_MISMATCH: 'Somebody has changed it meanwhile: read the preview again, then update.',
  BUSY: 'Try again when it is done.',
  NOT_READY: 'Try again when it is READY.',
  FORBIDDEN: 'Sign out, and use a token that may: an administrator makes them.',
  NOT_FOUND: 'It was deleted meanwhile: choose another one.',
  NO_ANSWER: 'It is not known whether it was done. Press again: nothing is created twice.',
}
/** The remedy; null where the message has it. */
export const adviceFor = ({ code }: Refusal): string | null => ADVICE[code] ?? null

/** The problem of a field, or of its parts. */
export const problemOf = (refused: Refusal | null, field: string): string | null =>
  (refused?.fields ?? [])
    .filter(({ path }) => path === field || path.startsWith(`${field}.`))
    .map(({ message }) => message)
    .join('; ') || null

/** Problems that belong to no field of the form. */
export const problemsOutside = (refused: Refusal, fields: readonly string[]): readonly FieldProblem[] =>
  (refused.fields ?? []).filter(({ path }) => !fields.some((field) => path === field || path.startsWith(`${field}.`)))
