/**
 * Scripts that write a group in one step that no other command can interrupt, and take little of
 * Redis' time; a third reads many groups in one command.
 */

import { GROUP_BLOCKS } from '../../domain/device.ts';
import { HISTORY_OCTETS } from './histories.ts';
import { BITMAP_OCTETS, LISTED_MAX } from './offsets.ts';

/** Values that Lua may put on its stack at once; its limit is 8,000. */
const STACK_MAX = 2_000;
/** Up to so many changed octets a bitmap is cut and joined; beyond, unpacked whole (20 us). */
const CUTS_MAX = 24;

const LISTS = `
local function numbers(list)
  local found = {}
  for at = 1, #list, 2 do
    local high, low = string.byte(list, at, at + 1)
    found[#found + 1] = high * 256 + low
  end
  return found
end

-- The list with these offsets, or without them. A place is found by binary search: most of a list is not looked at.
local function spliced(list, offsets, isWanted)
  local parts, from, low = {}, 1, 0
  for _, offset in ipairs(offsets) do
    local high = #list / 2
    while low < high do
      local middle = math.floor((low + high) / 2)
      local first, second = string.byte(list, 2 * middle + 1, 2 * middle + 2)
      if first * 256 + second < offset then low = middle + 1 else high = middle end
    end
    local first, second = string.byte(list, 2 * low + 1, 2 * low + 2)
    local isThere = first ~= nil and first * 256 + second == offset
    if isThere ~= isWanted then
      parts[#parts + 1] = string.sub(list, from, 2 * low)
      if isWanted then parts[#parts + 1] = string.char(math.floor(offset / 256), offset % 256) end
      from = 2 * low + (isWanted and 1 or 3)
    end
  end
  parts[#parts + 1] = string.sub(list, from)
  return table.concat(parts)
end`;

const BITMAPS = `
local function bitmapOf(offsets)
  local octets = {}
  for at = 1, ${BITMAP_OCTETS} do octets[at] = 0 end
  for _, offset in ipairs(offsets) do
    local at = math.floor(offset / 8) + 1
    octets[at] = octets[at] + 2 ^ (offset % 8)
  end
  return string.char(unpack(octets))
end

local function touch(masks, order, offsets, isAdded)
  for _, offset in ipairs(offsets) do
    local at = math.floor(offset / 8) + 1
    local mask = masks[at]
    if not mask then
      mask = { 0, 0 }
      masks[at] = mask
      order[#order + 1] = at
    end
    local which = isAdded and 1 or 2
    mask[which] = bit.bor(mask[which], 2 ^ (offset % 8))
  end
end

local function flipped(bitmap, adds, removes)
  local masks, order = {}, {}
  touch(masks, order, adds, true)
  touch(masks, order, removes, false)
  local function octetAt(at)
    return bit.band(bit.bor(string.byte(bitmap, at), masks[at][1]), bit.bnot(masks[at][2]))
  end
  if #order > ${CUTS_MAX} then
    local octets = { string.byte(bitmap, 1, -1) }
    for _, at in ipairs(order) do octets[at] = octetAt(at) end
    return string.char(unpack(octets))
  end
  table.sort(order)
  local parts, from = {}, 1
  for _, at in ipairs(order) do
    parts[#parts + 1] = string.sub(bitmap, from, at - 1)
    parts[#parts + 1] = string.char(octetAt(at))
    from = at + 1
  end
  parts[#parts + 1] = string.sub(bitmap, from)
  return table.concat(parts)
end

-- Nil: nobody is left.
local function changedOffsets(value, adds, removes)
  if value and #value == ${BITMAP_OCTETS} then
    local bitmap = flipped(value, numbers(adds), numbers(removes))
    return string.find(bitmap, '[^%z]') and bitmap or nil
  end
  value = value or ''
  if removes == '' and (#value + #adds) / 2 <= ${LISTED_MAX} then
    local high, low = string.byte(value, -2, -1)
    local nextHigh, nextLow = string.byte(adds, 1, 2)
    if not high or (nextHigh and nextHigh * 256 + nextLow > high * 256 + low) then
      value = value .. adds
      return value ~= '' and value or nil
    end
  end
  value = spliced(spliced(value, numbers(adds), true), numbers(removes), false)
  if value == '' then return nil end
  return #value / 2 > ${LISTED_MAX} and bitmapOf(numbers(value)) or value
end`;

const BLOCKS = `
-- A block's string with slots replaced. Edits are a slot and its record, again and again, by rising slots.
local function changedBlock(block, edits)
  local records, at = {}, 2
  for slot = 0, (block and string.byte(block, 1) or 0) - 1 do
    local high, low = string.byte(block, at, at + 1)
    local size = 2 + (high % 128) * 256 + low
    records[slot + 1] = string.sub(block, at, at + size - 1)
    at = at + size
  end
  at = 1
  while at <= #edits do
    local slot, high, low = string.byte(edits, at, at + 2)
    local size = 2 + (high % 128) * 256 + low
    for missing = #records + 1, slot do records[missing] = '\\0\\0' end
    records[slot + 1] = string.sub(edits, at + 1, at + size)
    at = at + 1 + size
  end
  local last = #records
  while last > 0 and records[last] == '\\0\\0' do last = last - 1 end
  if last == 0 then return nil end
  return string.char(last) .. table.concat(records, '', 1, last)
end`;

const NOTES = `
local function changedHistories(value, edits)
  local histories, order = {}, {}
  for _, octets in ipairs({ value or '', edits }) do
    for at = 1, #octets, ${HISTORY_OCTETS} do
      local offset = string.sub(octets, at, at + 1)
      if not histories[offset] then order[#order + 1] = offset end
      histories[offset] = string.sub(octets, at + 2, at + 3)
    end
  end
  local parts = {}
  for _, offset in ipairs(order) do
    if histories[offset] ~= '\\0\\0' then parts[#parts + 1] = offset .. histories[offset] end
  end
  return #parts > 0 and table.concat(parts) or nil
end`;

const FIELDS = `
local function writeFields(key, pairsOfFields)
  for from = 1, #pairsOfFields, ${STACK_MAX} do
    redis.call('HSET', key, unpack(pairsOfFields, from, math.min(from + ${STACK_MAX} - 1, #pairsOfFields)))
  end
end`;

/**
 * Unproven until the script's end: Redis rolls nothing back when a command fails. At maxmemory it
 * refuses this first write; after one that frees memory it would let the rest pass.
 */
const UNPROVEN = "redis.call('HSET', key, 'v', '0')";

/**
 * KEYS: the group's hash. ARGV: the new version; tags (count; id, added and removed offsets each);
 * blocks (count; number and edits each); edits of histories. Answers the version that the group has
 * afterwards; if it is not the new one, nothing was done.
 */
export const APPLY = `${LISTS}
${BITMAPS}
${BLOCKS}
${NOTES}
${FIELDS}
local key, version = KEYS[1], tonumber(ARGV[1])
local current = tonumber(redis.call('HGET', key, 'v') or 0)
if current ~= version - 1 then return current end
${UNPROVEN}
local at, written = 3, { 'v', ARGV[1] }
for _ = 1, tonumber(ARGV[2]) do
  local tag = ARGV[at]
  local value = redis.call('HGET', key, tag)
  local changed = changedOffsets(value, ARGV[at + 1], ARGV[at + 2])
  if changed then
    written[#written + 1] = tag
    written[#written + 1] = changed
  elseif value then
    redis.call('HDEL', key, tag)
  end
  at = at + 3
end
at = at + 1
for _ = 1, tonumber(ARGV[at - 1]) do
  local blockKey = key .. ':' .. ARGV[at]
  local block = changedBlock(redis.call('GET', blockKey), ARGV[at + 1])
  if block then redis.call('SET', blockKey, block) else redis.call('DEL', blockKey) end
  at = at + 2
end
if ARGV[at] ~= '' then
  local histories = changedHistories(redis.call('HGET', key, 'n'), ARGV[at])
  if histories then
    written[#written + 1] = 'n'
    written[#written + 1] = histories
  else
    redis.call('HDEL', key, 'n')
  end
end
writeFields(key, written)
return version
`;

/**
 * Replaces a group unless it is newer. KEYS: the group's hash. ARGV: the version; '1': also one of
 * the same version; fields (count; name and value each); blocks, each number with its string.
 * Answers the version that the group has afterwards.
 */
export const LOAD = `${FIELDS}
local key, version = KEYS[1], tonumber(ARGV[1])
local current = tonumber(redis.call('HGET', key, 'v') or 0)
if current > version or (current == version and ARGV[2] ~= '1') then return current end
${UNPROVEN}
redis.call('DEL', key)
for block = 0, ${GROUP_BLOCKS - 1} do redis.call('DEL', key .. ':' .. block) end
local fields, at = { 'v', ARGV[1] }, 4
for _ = 1, tonumber(ARGV[3]) do
  fields[#fields + 1] = ARGV[at]
  fields[#fields + 1] = ARGV[at + 1]
  at = at + 2
end
writeFields(key, fields)
while ARGV[at] do
  redis.call('SET', key .. ':' .. ARGV[at], ARGV[at + 1])
  at = at + 2
end
return version
`;

/** KEYS: hashes. ARGV: fields. Answers their values for each hash, nil for missing ones. */
export const READ_FIELDS = `
local values = {}
for at, key in ipairs(KEYS) do values[at] = redis.call('HMGET', key, unpack(ARGV)) end
return values
`;
