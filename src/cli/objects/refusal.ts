import type { Refusal } from '../../client-model/index.ts'
import { inOneLine } from '../../core/errors.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { type Output, printJson, printLine } from '../terminal/io.ts'
import { words } from '../terminal/text.ts'

const exitCodeOf = (refusal: Refusal): ExitCode => (refusal.code === 'INVALID_INPUT' ? EXIT.usage : EXIT.refused)

/** For people: code and message, then one line for each field, the conflicting object, and the allowed phases. */
function describeRefusal(refusal: Refusal): string[] {
  const { code, message, fields = [], object, allowed } = refusal
  // The message may repeat the fields. One of them is shown there, and several in lines of their own.
  const repeated = inOneLine(fields)
  const isShown = fields.length === 1 && message.includes(repeated)
  return [
    `${code}: ${fields.length > 1 ? message.replace(repeated, () => `${fields.length} problems`) : message}`,
    ...(isShown ? [] : fields).map((field) => `  ${field.path}: ${field.message}`),
    ...(object ? [`  in the way: ${shown(object)}`] : []),
    ...(allowed?.length ? [`  allowed from here: ${allowed.join(', ')}`] : []),
  ]
}

const shown = ({ kind, name, phase, id }: NonNullable<Refusal['object']>): string =>
  `${words(kind)} ${name} (${phase}, id ${id})`

/** Prints a refusal, as one JSON document on `out` or as text on `err`, and returns the exit code. */
export function printRefusal(refusal: Refusal, json: boolean, out: Output, err: Output): ExitCode {
  if (json) printJson(out, { error: refusal })
  else for (const line of describeRefusal(refusal)) printLine(err, line)
  return exitCodeOf(refusal)
}
