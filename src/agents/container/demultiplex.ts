/** The engine's stream of both outputs: frames of a head (one byte for the output, three zeros, the length) and a body. */
const HEAD = 8
const STDERR = 2

export type OnOutput = (stream: 'STDOUT' | 'STDERR', chunk: Buffer) => void

/** Returns what takes chunks of such a stream, cut anywhere. Bodies are passed on in the parts in which they arrive. */
export function demultiplex(onOutput: OnOutput): (chunk: Buffer) => void {
  const head = Buffer.alloc(HEAD)
  let headLength = 0
  let missing = 0
  return (chunk) => {
    let at = 0
    while (at < chunk.length) {
      if (missing > 0) {
        const body = chunk.subarray(at, at + missing)
        onOutput(head[0] === STDERR ? 'STDERR' : 'STDOUT', body)
        missing -= body.length
        at += body.length
      } else {
        const copied = chunk.copy(head, headLength, at, at + HEAD - headLength)
        headLength += copied
        at += copied
        if (headLength < HEAD) return
        headLength = 0
        missing = head.readUInt32BE(4)
      }
    }
  }
}
