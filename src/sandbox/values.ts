import { type CelInput, type CelValue, isCelList, isCelMap, isCelType, isCelUint } from '@bufbuild/cel'
import { isMessage, type Message, toJson } from '@bufbuild/protobuf'
import { isReflectMessage } from '@bufbuild/protobuf/reflect'
import { DurationSchema, TimestampSchema } from '@bufbuild/protobuf/wkt'
import { numberProblem, textProblem } from '../core/portable.ts'
import { Refused, tooLong } from './environment.ts'
import { LIMITS } from './limits.ts'

/** JSON to CEL. Whole numbers become int, so that `imports.port + 1` is an addition of ints; maps convert on access. */
export function toInput(json: unknown): CelInput {
  if (typeof json === 'number') return Number.isSafeInteger(json) ? BigInt(json) : json
  if (Array.isArray(json)) return json.map(toInput)
  if (typeof json === 'object' && json !== null) return new LazyMap(json as Record<string, unknown>)
  return json as string | boolean | null
}

/** Lazy: an expression may read one leaf of a scope of megabytes. */
class LazyMap extends Map<string, CelInput> {
  readonly #json: Record<string, unknown>
  #complete = false
  constructor(json: Record<string, unknown>) {
    super()
    this.#json = json
  }

  override get(key: string): CelInput | undefined {
    if (!this.#complete && !super.has(key) && Object.hasOwn(this.#json, key)) super.set(key, toInput(this.#json[key]))
    return super.get(key)
  }
  override has(key: string): boolean {
    return Object.hasOwn(this.#json, key)
  }
  override get size(): number {
    return Object.keys(this.#json).length
  }
  override keys() {
    this.#fill()
    return super.keys()
  }
  override values() {
    this.#fill()
    return super.values()
  }
  override entries() {
    this.#fill()
    return super.entries()
  }
  override [Symbol.iterator]() {
    return this.entries()
  }
  override forEach(callback: (value: CelInput, key: string, map: Map<string, CelInput>) => void): void {
    this.#fill()
    super.forEach(callback)
  }

  #fill(): void {
    if (!this.#complete) for (const key of Object.keys(this.#json)) this.get(key)
    this.#complete = true
  }
}

/** Counts down while output is built, so that a small graph of shared parts cannot expand into gigabytes. */
export class Budget {
  #left: number = LIMITS.output
  spend(characters: number): void {
    this.#left -= characters
    if (this.#left < 0) throw tooLarge()
  }

  /** Counts JSON as bounds of inputs do. Its nesting is bounded. */
  spendOn(json: unknown): void {
    if (typeof json === 'string') this.spend(json.length + 2)
    else if (typeof json === 'number') this.spend(String(json).length)
    else {
      this.spend(2)
      if (Array.isArray(json)) for (const item of json) this.spendOn(item)
      else if (typeof json === 'object' && json !== null)
        for (const [key, item] of Object.entries(json)) {
          this.spend(key.length + 3)
          this.spendOn(item)
        }
    }
  }
}

export function tooLarge(): Refused {
  return new Refused(`the result is larger than ${LIMITS.output} characters`)
}

/** CEL to JSON: ints to numbers, bytes to base64, timestamps to RFC 3339. Throws Refused for what JSON cannot hold. */
export function toJsonValue(value: CelValue, budget: Budget, depth = 0): unknown {
  if (typeof value === 'string') {
    budget.spend(value.length + 2)
    return portable(value)
  }
  budget.spend(1)
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'number' || typeof value === 'bigint') return numberOf(value)
  if (isCelUint(value)) return numberOf(value.value)
  if (value instanceof Uint8Array) return base64(value, budget)
  if (isReflectMessage(value)) return momentOf(value.message)
  if (depth >= LIMITS.depth) throw new Refused(`the result is nested more than ${LIMITS.depth} levels deep`)
  if (isCelList(value)) return Array.from(value, (item) => toJsonValue(item, budget, depth + 1))
  if (isCelMap(value)) {
    return Object.fromEntries(
      Array.from(value, ([key, item]) => [keyOf(key, budget), toJsonValue(item, budget, depth + 1)]),
    )
  }
  throw new Refused(isCelType(value) ? 'the result is a type, which is not JSON' : 'the result is not JSON')
}

function momentOf(message: Message): string {
  if (isMessage(message, TimestampSchema)) return toJson(TimestampSchema, message)
  if (isMessage(message, DurationSchema)) return toJson(DurationSchema, message)
  throw new Refused('the result is not JSON')
}

function numberOf(value: number | bigint): number {
  const number = Number(value)
  if (!Number.isFinite(number)) throw new Refused('the result is not a finite number')
  if (numberProblem(number)) throw new Refused('the result is a whole number too large for JSON: use string(…)')
  return number
}

/** CEL has escapes for any character. */
function portable(text: string): string {
  const problem = textProblem(text)
  if (problem) throw new Refused(`the result ${problem}`)
  return text
}

function base64(bytes: Uint8Array, budget: Budget): string {
  if (bytes.length > LIMITS.output) throw tooLong()
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  budget.spend(text.length)
  return text
}

function keyOf(key: unknown, budget: Budget): string {
  const text = portable(String(isCelUint(key) ? key.value : key))
  budget.spend(text.length + 3)
  return text
}
