/** A text about an item, followed by why its agent gave it back last, if one did. */
export const withLastProblem = (text: string, problem: string | null | undefined): string =>
  problem ? `${text} Its last try ended with: ${problem}` : text
