"""Names or data: first lines of both kinds."""

import pytest

from pygeco.io.headers import has_names

NAMES = [
    "a,b|1,2|3,4",
    "who,x,y|b,3,4",
    ",0,1|0,3,4",  # a frame's count of its columns
    "country,1990,1991,1992|France,3.5,4,2",
    "userId,10,17,24|1,3,|2,,5",
    "userId,10,17,24|ann,3,|bob,,5",
    "movieId,1,2|ann,3,4",
    "user,B7,2,1|ann,3,4,5",
    "member,3,8|ann,3,4",
    ",1,2,3,5|1,4,,3,2|2,5,1,,4",  # a pivot table whose index has no name
    ",10.0,17.0|7,3,|9,,5",
    ",3,7|ann,4,5|bob,3,1",
    "site,2019,2021,2023,2025|Oslo,1,2,3,4|Bonn,4,3,2,1",
    "site,2019,2024,2025|1,90,80,70|2,10,,30",
    "2019,2020,2021|1.5,2.5,3.5|2.5,,4.5|4.5,3.5,1.5",
    "10,17,24|1,,5|,4,3",
    "site,001,002|Oslo,3,4|Bonn,1,2",
    ",color,size|1,red,S|2,blue,L",
    ",color,size|ann,red,S|bob,blue,L",
    "id,color,|1,red,|2,blue,",
    ",1,2,3,5,8|7,4,,3,2,1|2,5,1,,4,3",  # ids in no order
    "0,1,2|0.5,-1.5,2.25|1.0,,-0.1",  # a frame's count of its columns, without its index
    "0,1|0.5,-1.5|1.0,2.0",
    "0,1,2,3,4|5,,3,1,|,2,2,,4",
    "1,2,3,4,5|5,,3,1,|,2,2,,4",
    "0,1,2,3,4|ann,3,1,,2|bob,2,2,4,1",
    "userId,10,17,24",  # as far as the first bytes of a wide table go
]
DATA = [
    "a,1,2|b,3,4",
    "b,?,4|a,1,2",
    "1,2|3,4",
    "1,2,3|2,4,6|3,6,9|4,8,12",  # each line beyond the next
    "NA,16,24|9,18,27|10,20,30",
    ",24,16|9,18,27|10,20,30",
    ",1.5,2.5|3,4,5|6,7,8",
    "jan,1,2|feb,3,4|mar,5,6",
    "1,1193,5,978300760|1,661,3,978302109|2,914,3,978301968",
    "100|1|2|3",
    "a,0|b,1|c,0",
    "a,0,1|b,3,4",
    "i,1,2|j,3,4",
    "student,7,3|writer,2,8",
    "0,1,2|3,4,5|6,7,8",
    "0,1,2,3,4|5,6,7,8,9",  # a range
    "1,2,3,4,5|2,4,6,8,10|3,6,9,12,15",
    "0,1,2|1,3,4|2,0,5",  # ratings
    "0,1,5|0.5,1.5,2.5|1.5,2.5,3.5",
    "1,2|3.5,4|5.5,6.5",
    "7,7,7|1,2,3|2,3,4",
    "01,02,03|04,05,06|07,08,09",
    "nan,5,6|1,2,3|2,3,4",
    "NA,16,24|8,18,27|3,20,30",
    ",16,24|8,18,27|3,20,30",
    ",0,1|1,0,1|0,1,1|1,1,0",
    "NA,red,S|4,blue,L|7,red,M",
    ",red,S|4,blue,L|7,red,M",
    "4,,|,red,S",
    "-,red,NA|4,blue,3|7,red,2",
    "NA,NA,NA|4,blue,3",
    "ann,red,|bob,blue,3|eve,red,2",
]


@pytest.mark.parametrize(
    ("text", "wanted"), [(t, True) for t in NAMES] + [(t, False) for t in DATA]
)
@pytest.mark.parametrize("scale", ["", "decimal commas"])
def test_names_are_told_from_data(text, wanted, scale) -> None:
    rows = [line.split(",") for line in text.split("|")]
    if scale:
        rows = [[field.replace(".", ",") for field in row] for row in rows]
    assert has_names(rows) == wanted
