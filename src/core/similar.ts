/** Suggestions for a mistyped name: at most three of the candidates, the most similar first. Pure. */
export function similarTo(name: string, candidates: readonly string[]): readonly string[] {
  const wanted = name.toLowerCase()
  const most = Math.max(1, Math.floor(wanted.length / 3))
  return [...new Set(candidates)]
    .filter(({ length }) => Math.abs(length - wanted.length) <= most)
    .map((candidate) => ({ candidate, edits: editsBetween(wanted, candidate.toLowerCase()) }))
    .filter(({ edits }) => edits <= most)
    .sort((a, b) => a.edits - b.edits)
    .slice(0, 3)
    .map(({ candidate }) => candidate)
}

/** Levenshtein's distance: the fewest characters to insert, delete or replace. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min((next[j - 1] ?? 0) + 1, (row[j] ?? 0) + 1, replaced))
    }
    row = next
  }
  return row[b.length] ?? 0
}
