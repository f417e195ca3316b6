import { randomUUID } from 'node:crypto'
import { badRequest, callJson, getJson } from '../lib/http.mjs'

/** `POST /orders` charges the customer, stores the order and notifies the warehouse; `GET /orders/<id>`. */
export function createService({ database, queue, payments }) {
  async function place({ lines }) {
    const id = randomUUID()
    const totalCents = lines.reduce((sum, { quantity, cents }) => sum + quantity * cents, 0)
    const charge = await callJson('POST', `${payments}/charges`, { orderId: id, cents: totalCents })
    const order = { id, lines, totalCents, chargeId: charge.id, at: new Date().toISOString() }
    await callJson('PUT', `${database}/keys/order:${id}`, order)
    await callJson('POST', `${queue}/topics/warehouse`, { orderId: id })
    return order
  }

  return async ({ method, path, body }) => {
    if (method === 'POST' && path === '/orders') {
      if (!Array.isArray(body?.lines) || body.lines.length === 0) throw badRequest('The order is empty.')
      return await place(body)
    }
    const id = /^\/orders\/([\w-]{1,64})$/.exec(path)?.[1]
    if (method !== 'GET' || id === undefined) return undefined
    return (await getJson(`${database}/keys/order:${id}`))?.value
  }
}
