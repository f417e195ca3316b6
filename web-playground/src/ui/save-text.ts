/** Hands lines of text to the browser as a file. */
export function saveText(name: string, lines: readonly string[]): void {
  saveBlob(name, new Blob([`${lines.join('\n')}\n`], { type: 'text/plain' }))
}

export function saveBlob(name: string, content: Blob): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
