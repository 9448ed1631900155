"""Random expressions, zones and moments for property tests."""

from hypothesis import strategies as st

ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Europe/London",
    "Europe/Dublin",
    "Australia/Lord_Howe",
    "Africa/Cairo",
    "America/Havana",
    "America/Asuncion",
    "Asia/Beirut",
    "Pacific/Apia",
    "Antarctica/Troll",
    "America/Sao_Paulo",
    "Asia/Tehran",
    "Africa/Casablanca",
    "America/Nuuk",
    "Africa/Monrovia",
    "Asia/Kathmandu",
)

# Around these moments the clocks of the zones above are changed; others are quiet, or far in the future.
MOMENTS = (
    *(1_774_746_000, 1_792_890_000),  # Berlin, London, Dublin, Troll, Beirut, Nuuk 2026
    *(1_772_953_200, 1_793_512_800),  # New York, Havana 2026
    *(1_775_314_800, 1_791_041_400),  # Lord Howe 2026
    *(1_776_981_600, 1_793_307_600),  # Cairo 2026
    *(1_696_132_800, 1_711_249_200),  # Asuncion 2023, 2024
    *(1_325_239_200, 1_541_300_400, 1_550_368_800),  # Apia 2011, Sao Paulo 2018, 2019
    *(1_647_894_600, 1_663_788_600),  # Tehran 2022
    *(1_710_036_000, 1_713_060_000),  # Casablanca 2024
    *(63_593_070, 504_901_800),  # Monrovia 1972, Kathmandu 1986
    *(0, 951_782_400, 1_709_164_800, 4_107_542_400, 16_733_520_000, 200_000_000_000),
)

zones = st.sampled_from(ZONES)
moments = st.builds(int.__add__, st.sampled_from(MOMENTS), st.integers(-100_000, 100_000))
policies = st.sampled_from(["vixie", "skip", "literal"])
day_rules = st.sampled_from(["or", "and"])


def ranges(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high).map(str)
    return st.builds("{}-{}".format, number, number)


def items(low: int, high: int, *special: str) -> st.SearchStrategy[str]:
    number = st.integers(low, high).map(str)
    step = st.integers(1, min(high - low + 1, 31)).map(str)
    stepped = st.builds("{}/{}".format, st.one_of(st.just("*"), number, ranges(low, high)), step)
    plain = st.one_of(st.just("*"), number, ranges(low, high), stepped)
    return st.one_of(plain, st.sampled_from(special)) if special else plain


def fields(low: int, high: int, *special: str) -> st.SearchStrategy[str]:
    return st.lists(items(low, high, *special), min_size=1, max_size=3).map(",".join)


month_day_fields = fields(1, 28, "L", "L-3", "LW", "15W", "1W", "31W", "L-2W", "31")
week_day_fields = fields(0, 6, "5L", "L1", "FRI#L", "1#1", "3#5", "MON-FRIL", "SAT-TUE", "7", "SUN#2", "5-7/2")
minute_expressions = st.tuples(
    fields(0, 59), fields(0, 23), month_day_fields, fields(1, 12, "JAN", "NOV-FEB"), week_day_fields
).map(" ".join)
second_expressions = st.tuples(fields(0, 59), minute_expressions).map(" ".join)
expressions = st.one_of(minute_expressions, second_expressions)
