/**
 * Throws if the database has refused a decision of the rules: a foreign key, a check or the guard. A report is stored without
 * such a decision, which hides it.
 *
 * @param output lines of a process's log
 */
export function rulesHold(output: string): void {
  const broken = output
    .split('\n')
    .find((line) => line.includes('a tree could not be decided') && /"code":"23\w{3}"/.test(line))
  if (broken) throw new Error(`the database refused what the rules had decided: ${broken}`)
}
