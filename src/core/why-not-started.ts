/** Explains the system's code for a failed start to the author of the program; common codes explain themselves. */
export const whyNotStarted = (code: string): string =>
  code === 'E2BIG'
    ? 'its arguments and variables are longer than the system takes (E2BIG): Linux takes less than 128 KiB of each, and usually 2 MiB of all together'
    : code
