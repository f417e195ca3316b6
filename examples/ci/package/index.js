/** How often each word stands in a text, whatever its case. */
export function countWords(text) {
  const counts = new Map()
  for (const [word] of text.toLowerCase().matchAll(/\p{L}+/gu)) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}
