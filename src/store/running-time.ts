const STEPS = 8

/**
 * Calls back once this process has run for so long. A process that was suspended, or busy loading its code, has not
 * read data that arrived meanwhile, and a plain timer would fire before it does.
 */
export function afterRunning(ms: number, callback: () => void): Disposable {
  let steps = 0
  const timer = setInterval(() => {
    steps += 1
    if (steps < STEPS) return
    clearInterval(timer)
    callback()
  }, ms / STEPS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
