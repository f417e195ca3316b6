/** Large enough for a parcel's frames for several subscribers, small enough that a slow one keeps little from being used again. */
const SLAB = 64 * 1024
/** Kept for the next parcel, 16 MB; what is more goes to the garbage collector. */
const MAX_FREE = 256

export type Allocate = (bytes: number) => Buffer

/** A piece of memory that many writes share. */
export class Slab {
  readonly buffer: Buffer
  used = 0
  #holders = 1
  readonly #free: (slab: Slab) => void

  constructor(buffer: Buffer, free: (slab: Slab) => void) {
    this.buffer = buffer
    this.#free = free
  }

  hold(): void {
    this.#holders += 1
  }
  /** To be called once by each holder; whoever made it is the first. */
  readonly release = (): void => {
    this.#holders -= 1
    if (this.#holders === 0) this.#free(this)
  }
  reuse(): void {
    this.#holders = 1
    this.used = 0
  }
}

/**
 * Memory for frames, used again once all that was written from it has left the process. Hundreds of megabytes a second go
 * out to many subscribers: as garbage they would stop the gateway for tens of milliseconds now and then.
 */
export class Slabs {
  readonly #free: Slab[] = []
  readonly #take = (slab: Slab): void => {
    if (this.#free.length < MAX_FREE) this.#free.push(slab)
  }

  /** With room for so many bytes; held by the caller. */
  take(bytes: number): Slab {
    if (bytes > SLAB) return new Slab(Buffer.allocUnsafeSlow(bytes), () => undefined)
    const slab = this.#free.pop()
    if (!slab) return new Slab(Buffer.allocUnsafeSlow(SLAB), this.#take)
    slab.reuse()
    return slab
  }
}
