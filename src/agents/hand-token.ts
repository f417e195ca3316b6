import type { ChildProcess } from 'node:child_process'

/** To an agent that is started with `--token-file -`: by its standard input, which nothing else can read. */
export function handToken({ stdin }: ChildProcess, token: string): void {
  // One that has ended already does not read it.
  stdin?.on('error', () => {})
  stdin?.end(token)
}
